<svg class="graph" xmlns="http://www.w3.org/2000/svg" viewBox="-6 -6 {{width:x-html}} {{height:x-html}}"
 width="{{width:x-html}}" height="{{height:x-html}}" role="group" aria-label="{{label:x-html}}">
{{#curves}}
<path class="curve" d="{{path:x-html}}"/>
{{/curves}}
{{#boxes}}
<a class="box {{classes:x-html}}" href="#{{anchor:x-html}}" data-key="{{key:x-html}}"><rect x="{{x:x-html}}"
 y="{{y:x-html}}" width="{{width:x-html}}" height="{{height:x-html}}" rx="5"/>
{{#lines}}
<text x="{{text_x:x-html}}" y="{{text_y:x-html}}">{{text:x-html}}</text>
{{/lines}}
</a>
{{/boxes}}
</svg>
