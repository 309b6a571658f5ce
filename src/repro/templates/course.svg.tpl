<svg class="course" viewBox="0 0 {{width:x-html}} {{height:x-html}}" role="img"
 aria-label="from {{before:x-html}} operators to {{after:x-html}} in {{checks:x-html}} checks">
{{#marks}}
<line class="mark" x1="{{left:x-html}}" x2="{{right:x-html}}" y1="{{mark_y:x-html}}" y2="{{mark_y:x-html}}"/>
<text class="axis end" x="40" y="{{text_y:x-html}}">{{operators:x-html}}</text>
{{/marks}}
{{#steps}}
<path class="step p{{colour:x-html}}" d="{{path:x-html}}"><title>{{what:x-html}}</title></path>
{{/steps}}
<text class="axis" x="{{left:x-html}}" y="{{text_y:x-html}}">0</text>
<text class="axis end" x="{{right:x-html}}" y="{{text_y:x-html}}">{{checks:x-html}} checks</text>
</svg>
<p class="small legend">Operators of the best so far, on a logarithmic scale.
{{#passes}}
<span class="swatch p{{colour:x-html}}">{{pass:x-html}}</span>
{{/passes}}
</p>
