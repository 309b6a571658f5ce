{{title:x-source}}

{{#warning}}
> **{{warning:x-markdown}}**

{{/warning}}
{{#fields}}
### {{heading:x-source}}

{{#problem}}
{{sentence:x-source}}{{#guilty}} {{guilty:x-markdown}}{{/guilty}}

{{why_eager:x-source}}

{{#witnesses}}
- {{what:x-markdown}}: {{outcome:x-markdown}}
{{/witnesses}}

{{/problem}}
{{#script}}
{{script:x-python-fence}}

{{/script}}
{{#no_script}}
There is no script that shows it: {{why_no_script:x-markdown}}

{{/no_script}}
{{#attached}}
To attach: {{attached:x-markdown}}

{{/attached}}
{{#listing}}
{{listing:x-fence}}

{{/listing}}
{{#text}}
{{text:x-markdown}}

{{/text}}
{{/fields}}
{{how_made:x-source}} by repro-minify {{version:x-markdown}}{{#model}} from the model {{model:x-markdown}}{{/model}}: {{operators_before:x-source}} before, {{operators_after:x-source}} after.
