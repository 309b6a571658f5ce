<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{{policy:x-html}}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{heading:x-html}}</title>
<style>{{css:x-source}}</style>
</head>
<body>
<header>
<h1>{{heading:x-html}}</h1>
<p>{{outcome:x-html}}</p>
</header>
<main>
{{#entries}}
<section>
<h2><a href="#failure-{{folder:x-html}}" id="failure-{{folder:x-html}}">{{folder:x-html}}</a> {{headline:x-html}}</h2>
<dl>
<dt>kind</dt><dd>{{kind:x-html}}</dd>
{{#guilty}}
<dt>guilty</dt><dd><code>{{guilty:x-html}}</code></dd>
{{/guilty}}
<dt>seen at</dt><dd>{{places_in_words:x-html}} of the model</dd>
<dt>reduced</dt><dd>{{operators_before:x-html}} → {{operators_after:x-html}} operators in {{checks:x-html}} checks, {{#verified}}verified{{/verified}}{{#no_verified}}<strong>not verified</strong>{{/no_verified}}</dd>
<dt>files</dt><dd>{{#files}}<a href="{{link:x-html}}">{{name:x-html}}</a> {{/files}}</dd>
</dl>
<pre tabindex="0" aria-label="the repro"><code>{{code:x-html}}</code></pre>
</section>
{{/entries}}
</main>
</body>
</html>
