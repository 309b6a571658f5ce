<div class="values">
{{#map}}
<figure><svg class="map" viewBox="0 0 {{width:x-html}} {{height:x-html}}" role="img"
 aria-label="where the errors are"><rect class="e0" width="{{width:x-html}}" height="{{height:x-html}}"/>
{{#cells}}
<rect class="e{{shade:x-html}}" x="{{x:x-html}}" y="{{y:x-html}}" width="10" height="10"/>
{{/cells}}
</svg><figcaption>Largest error in each cell of {{rows:x-html}} × {{columns:x-html}}, the value as rows of its last
dimension; darkest: {{largest:x-html}}; black: no number on one side alone</figcaption></figure>
{{/map}}
{{#histogram}}
<figure><table class="bars"><tbody>
{{#bars}}
<tr><th scope="row">{{what:x-html}}</th><td><svg class="bar" width="240" height="12" aria-hidden="true"><rect
 width="{{length:x-html}}" height="12"/></svg></td><td class="number">{{count:x-html}}</td></tr>
{{/bars}}
</tbody></table><figcaption>How many of the {{elements:x-html}} elements are off by how much</figcaption></figure>
{{/histogram}}
<div class="wide"><table class="numbers"><thead><tr><th scope="col">element</th><th scope="col">expected (eager)</th>
<th scope="col">found</th><th scope="col">error</th></tr></thead><tbody>
{{#numbers}}
<tr class="e{{shade:x-html}}"><th scope="row">{{at:x-html}}</th><td>{{expected:x-html}}</td><td>{{found:x-html}}</td><td>{{error:x-html}}</td></tr>
{{/numbers}}
</tbody></table></div>
{{#is_large}}
<p class="small">The first {{shown:x-html}} of {{elements:x-html}} elements, row by row.</p>
{{/is_large}}
</div>
