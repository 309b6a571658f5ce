<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{{policy:x-html}}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Analysis of {{model:x-html}}</title>
<style>{{css:x-source}}</style>
</head>
<body>
<header>
<h1>{{sentence:x-html}}</h1>
{{#message}}
<p class="found">{{message:x-html}}</p>
{{/message}}
<p class="small">Analysis of <bdi>{{model:x-html}}</bdi> under {{backend:x-html}} by repro-minify {{version:x-html}} · PyTorch {{torch_version:x-html}}</p>
<p class="small">{{way:x-html}} ({{checks:x-html}})</p>
</header>
<div class="glance">
<div><b>{{values:x-html}}</b>values</div>
{{#counts}}
<div class="bad"><b>{{count:x-html}}</b>{{word:x-html}}</div>
{{/counts}}
</div>
<main>
{{#curve}}
<section id="errors">
<h2>Errors along the graph</h2>
<div class="wide">{{curve:x-source}}</div>
</section>
{{/curve}}
<section id="original">
{{#graph}}
<p class="legend">
{{#legend}}
<span class="chip {{classes:x-html}}">{{meaning:x-html}}</span>
{{/legend}}
</p>
{{/graph}}
{{#is_part}}
<p class="small">Of {{values:x-html}} values {{drawn:x-html}} are drawn: those around the first that is wrong.</p>
{{/is_part}}
{{#graph}}
<input type="checkbox" id="fit-original" class="fit"> <label for="fit-original">fit to the page's width</label>
<div class="canvas tall" tabindex="0" role="region" aria-label="the graph">{{graph:x-source}}</div>
{{/graph}}
{{#no_graph_because}}
<p class="missing">There is no picture of the graph: {{no_graph_because:x-html}}.</p>
{{/no_graph_because}}
<details class="entries"><summary>The values: {{drawn:x-html}}</summary>
{{entries:x-source}}
</details>
</section>
</main>
<aside id="panel" aria-live="polite" hidden></aside>
<script>{{js:x-source}}</script>
</body>
</html>
