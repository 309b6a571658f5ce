<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{{policy:x-html}}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{sentence:x-html}}</title>
<style>{{css:x-source}}</style>
</head>
<body>
<header>
<h1>{{sentence:x-html}}</h1>
<dl class="story">
{{#expected}}
<dt>expected</dt><dd>{{expected:x-html}}</dd>
{{/expected}}
<dt>found</dt><dd>{{found_in_words:x-html}}</dd>
{{#nature}}
<dt>bug or rounding</dt><dd>{{nature:x-html}}</dd>
{{/nature}}
{{#bisection}}
<dt>guilty</dt><dd><strong>{{sentence:x-html}}</strong> {{note:x-html}} ({{steps:x-html}}, {{checks:x-html}}, {{seconds:x-html}})</dd>
{{/bisection}}
{{#explanation}}
<dt>how</dt><dd>{{explanation:x-html}}</dd>
{{/explanation}}
{{#versions}}
<dt>versions</dt><dd>{{versions:x-html}}</dd>
{{/versions}}
{{#workaround}}
<dt>until it is fixed</dt><dd>{{workaround:x-html}}</dd>
{{/workaround}}
<dt>what to do</dt><dd>{{#report_as}}Report it with <a href="{{value:x-html}}">{{value:x-html}}</a>, which holds what fails{{/report_as}}{{#no_report_as}}{{advice:x-html}}{{/no_report_as}}{{#test}}; <a href="{{value:x-html}}">{{value:x-html}}</a> is a unit test that fails today{{/test}}.</dd>
</dl>
{{#expected}}
<p class="found">{{found:x-html}}</p>
{{/expected}}
<p class="small">From <bdi>{{model:x-html}}</bdi> by repro-minify {{version:x-html}} · PyTorch {{torch_version:x-html}}</p>
</header>
{{#warnings}}
<p class="warning" role="alert"><strong>Take care.</strong> {{value:x-html}}</p>
{{/warnings}}
<div class="glance">
<div><b>{{operators_before:x-html}} → {{operators_after:x-html}}</b>operators</div>
<div><b>{{nodes_before:x-html}} → {{nodes_after:x-html}}</b>nodes</div>
<div><b>{{checks:x-html}}</b>checks in {{search_seconds:x-html}}</div>
{{#verifies}}
<div class="good"><b>verified</b>{{verified_how:x-html}}</div>
{{/verifies}}
{{#no_verifies}}
<div class="bad"><b>not verified</b>see above</div>
{{/no_verifies}}
</div>
<nav aria-label="sections"><a href="#program">program</a> <a href="#values">values</a> <a href="#original">original</a>
<a href="#search">search</a> <a href="#passing">passing</a> <a href="#settings">settings</a></nav>
<main>
<section id="program">
<h2>What is left</h2>
{{#reduced_graph}}
<div class="pair">
{{/reduced_graph}}
<pre class="code" tabindex="0" aria-label="the reduced program"><code>{{#code}}{{#key}}<a class="piece" href="#{{anchor:x-html}}" data-key="{{key:x-html}}">{{text:x-html}}</a>{{/key}}{{#no_key}}{{text:x-html}}{{/no_key}}{{/code}}</code></pre>
{{#reduced_graph}}
{{#graph}}
<div class="canvas" tabindex="0" role="region" aria-label="the graph of the reduced program">{{graph:x-source}}</div>
{{/graph}}
{{#no_graph_because}}
<p class="missing">There is no picture of the graph: {{no_graph_because:x-html}}.</p>
{{/no_graph_because}}
</div>
<details class="entries"><summary>Its values: {{values:x-html}}, and its inputs</summary>
{{entries:x-source}}
</details>
{{/reduced_graph}}
{{#any_input}}
<div class="wide"><table><thead>
<tr><th scope="col">input</th><th scope="col">role</th><th scope="col">type</th><th scope="col">value</th></tr>
</thead><tbody>
{{#inputs}}
<tr><td><bdi>{{name:x-html}}</bdi></td><td>{{role:x-html}}</td><td>{{type:x-html}}</td><td>{{how:x-html}}</td></tr>
{{/inputs}}
</tbody></table></div>
{{/any_input}}
<p class="small">Files beside this page:
{{#files}}
<a href="{{value:x-html}}">{{value:x-html}}</a>
{{/files}}
</p>
</section>
<section id="values">
<h2>Expected against found</h2>
{{#both_sides}}
<h3>{{what:x-html}}</h3>
<p>{{message:x-html}}</p>
{{picture:x-source}}
{{/both_sides}}
{{#no_both_sides}}
<p>There are no values to show{{#no_values_because}}: {{no_values_because:x-html}}{{/no_values_because}}.</p>
{{/no_both_sides}}
</section>
<section id="original">
<h2>The original</h2>
{{#original_graph}}
{{#graph}}
<p class="legend">
{{#legend}}
<span class="chip {{classes:x-html}}">{{meaning:x-html}}</span>
{{/legend}}
</p>
{{/graph}}
{{#no_is_compared}}
<p class="small">Its values were not compared: that would take too many checks, or cannot be done for this failure.</p>
{{/no_is_compared}}
{{#is_part}}
<p class="small">Of its {{values:x-html}} values {{drawn:x-html}} are drawn: those around what was kept, and around the
first that is wrong.</p>
{{/is_part}}
{{#graph}}
<input type="checkbox" id="fit-original" class="fit"> <label for="fit-original">fit to the page's width</label>
<div class="canvas tall" tabindex="0" role="region" aria-label="the graph of the original">{{graph:x-source}}</div>
{{/graph}}
{{#no_graph_because}}
<p class="missing">There is no picture of the graph: {{no_graph_because:x-html}}.</p>
{{/no_graph_because}}
<details class="entries"><summary>Its values: {{drawn:x-html}}</summary>
{{entries:x-source}}
</details>
{{/original_graph}}
{{#no_original_graph}}
<p>There is no flat graph of the original to show.</p>
{{/no_original_graph}}
</section>
<section id="search">
<h2>The search</h2>
<div class="wide">{{course:x-source}}</div>
<div class="wide"><table><thead>
<tr><th scope="col">pass</th><th scope="col">turns</th><th scope="col">tried</th><th scope="col">worked</th>
<th scope="col" colspan="2">operators removed</th><th scope="col">checks</th><th scope="col">time</th></tr>
</thead><tbody>
{{#passes}}
<tr><th scope="row">{{pass:x-html}}</th><td>{{turns:x-html}}</td><td>{{tried:x-html}}</td><td>{{worked:x-html}}</td><td>{{operators_removed:x-html}}</td><td><svg class="bar" width="160" height="10" aria-hidden="true"><rect width="{{length:x-html}}" height="10"/></svg></td><td>{{checks:x-html}}</td><td>{{seconds:x-html}}</td></tr>
{{/passes}}
</tbody></table></div>
<p>1-minimal: {{one_minimal:x-html}}.</p>
{{#simplifications}}
<details><summary>What does not apply any more</summary><ul>
{{#list}}
<li>{{pass:x-html}}: {{what:x-html}}</li>
{{/list}}
</ul></details>
{{/simplifications}}
</section>
<section id="passing">
<h2>Failing beside passing</h2>
{{#difference}}
<p class="small">The closest program that passes (passing.pt). Lines with − are of the failing program alone, lines with
+ of the passing one.</p>
<pre class="difference" tabindex="0"><code>{{#lines}}<span class="{{where:x-html}}">{{sign:x-html}} {{text:x-html}}</span>
{{/lines}}</code></pre>
{{/difference}}
{{#no_difference}}
<p>No program that passes was kept.</p>
{{/no_difference}}
</section>
<section id="settings">
<h2>How it was asked</h2>
<div class="wide"><table><tbody>
<tr><th scope="row">backend</th><td>{{backend:x-html}}</td></tr>
<tr><th scope="row">failure</th><td>{{signature:x-html}}</td></tr>
<tr><th scope="row">originally</th><td>{{original:x-html}}</td></tr>
{{#left_out}}
<tr><th scope="row">not compared</th><td>{{left_out:x-html}}</td></tr>
{{/left_out}}
<tr><th scope="row">flattened</th><td>{{flattened:x-html}}</td></tr>
<tr><th scope="row">repro verified</th><td>{{verified:x-html}}{{#not_verified}}no: {{not_verified:x-html}}{{/not_verified}}</td></tr>
{{#python_verified}}
<tr><th scope="row">repro.py verified</th><td>{{python_verified:x-html}}</td></tr>
{{/python_verified}}
{{#others}}
<tr><th scope="row">under {{name:x-html}}</th><td>{{verdict:x-html}}</td></tr>
{{/others}}
{{#not_confined}}
<tr><th scope="row">not confined</th><td>{{not_confined:x-html}}</td></tr>
{{/not_confined}}
<tr><th scope="row">settings</th><td>{{settings:x-html}}</td></tr>
</tbody></table></div>
</section>
</main>
<aside id="panel" aria-live="polite" hidden></aside>
<script>{{js:x-source}}</script>
</body>
</html>
