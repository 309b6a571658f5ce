{{title:x-source}}

{{#warning}}
> **{{warning:x-markdown}}**

{{/warning}}
### 🐛 Describe the bug

{{sentence:x-markdown}}{{#guilty}} **{{guilty:x-markdown}}**{{/guilty}}

{{#script}}
{{script:x-python-fence}}

{{/script}}
{{#no_script}}
{{#cpp}}
There is no Python for it ({{no_script_because:x-markdown}}); in C++:

{{cpp:x-cpp-fence}}

{{/cpp}}
{{#no_cpp}}
There is no code for it yet: neither repro.py nor repro.cpp was written.

{{/no_cpp}}
{{/no_script}}
Found: {{found:x-markdown}}

{{why_eager:x-markdown}}

{{#graph}}
{{graph:x-mermaid-fence}}

{{/graph}}
#### Ablation

{{#has_ablation}}
| the program above under | |
|---|---|
{{#ablation}}
| {{what:x-markdown}} | {{outcome:x-markdown}} |
{{/ablation}}
{{#inductor_not_asked}}
| inductor | not asked |
{{/inductor_not_asked}}
{{/has_ablation}}
{{#no_has_ablation}}
Not tried.
{{/no_has_ablation}}

#### Proposed labels

{{#labels}}
- `{{label:x-source}}`: {{why:x-markdown}}
{{/labels}}
{{#no_labels}}
None: PyTorch's labels are about PyTorch.
{{/no_labels}}

#### Before you file

{{#reasons}}
- Likely to be closed, because {{value:x-markdown}}.
{{/reasons}}
{{#no_reasons}}
Nothing was found for which such reports are closed.
{{/no_reasons}}

### Error logs

{{logs:x-fence}}

### Versions

{{versions:x-fence}}

Minimised by repro-minify {{version:x-markdown}}{{#model}} from the model {{model:x-markdown}}{{/model}}: {{operators_before:x-source}} operators before, {{operators_after:x-source}} after.
