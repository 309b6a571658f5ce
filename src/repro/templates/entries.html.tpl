{{#entries}}
<article class="entry {{classes:x-html}}" id="{{anchor:x-html}}" data-key="{{key:x-html}}" tabindex="-1">
<h3><code>{{operator:x-html}}</code> <code><bdi>{{value:x-html}}</bdi></code> <span class="word">{{word:x-html}}</span>{{#kept}} <span class="word keeps">kept</span>{{/kept}}</h3>
<dl>
{{#type}}
<dt>type</dt><dd>{{type:x-html}}</dd>
{{/type}}
{{#name}}
<dt>value</dt><dd><code><bdi>{{name:x-html}}</bdi></code></dd>
{{/name}}
{{#errors}}
<dt>errors</dt><dd>{{errors:x-html}}</dd>
{{/errors}}
{{#message}}
<dt>verdict</dt><dd>{{message:x-html}}</dd>
{{/message}}
{{#expected}}
<dt>expected</dt><dd class="number">{{expected:x-html}}</dd>
{{/expected}}
{{#found}}
<dt>found</dt><dd class="number">{{found:x-html}}</dd>
{{/found}}
</dl>
{{picture:x-source}}
</article>
{{/entries}}
