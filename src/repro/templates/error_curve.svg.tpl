<svg class="course" viewBox="0 0 {{width:x-html}} {{height:x-html}}" role="img"
 aria-label="the errors of eager and of the optimised side at {{values:x-html}} values">
{{#marks}}
<line class="mark" x1="{{left:x-html}}" x2="{{right:x-html}}" y1="{{mark_y:x-html}}" y2="{{mark_y:x-html}}"/>
<text class="axis end" x="40" y="{{text_y:x-html}}">{{error:x-html}}</text>
{{/marks}}
{{#curves}}
<path class="step p{{colour:x-html}}" d="{{path:x-html}}"/>
{{#points}}
<circle class="p{{colour:x-html}}" cx="{{x:x-html}}" cy="{{y:x-html}}" r="3" fill="currentColor"><title>{{what:x-html}}</title></circle>
{{/points}}
{{/curves}}
<text class="axis" x="{{left:x-html}}" y="{{text_y:x-html}}">first value</text>
<text class="axis end" x="{{right:x-html}}" y="{{text_y:x-html}}">value {{values:x-html}}</text>
</svg>
<p class="small legend">Root mean square error against float64 at each value, on a logarithmic scale: rounding grows
in both, a wrong value is a step in one.
{{#curves}}
<span class="swatch p{{colour:x-html}}">{{side:x-html}}</span>
{{/curves}}
</p>
