{{title:x-source}}

{{#warning}}
> **{{warning:x-markdown}}**

{{/warning}}
### {{heading_bug:x-source}}

{{evidence:x-source}}

{{#script}}
{{script:x-python-fence}}
{{/script}}
{{#imported}}

{{name:x-markdown}}, which it imports:

{{code:x-python-fence}}
{{/imported}}
{{#no_script}}
{{#cpp}}
There is no Python for it ({{no_script_because:x-markdown}}); in C++:

{{cpp:x-cpp-fence}}

{{/cpp}}
{{#no_cpp}}
There is no code for it yet: neither repro.py nor repro.cpp was written.

{{/no_cpp}}
{{/no_script}}

{{#generated}}
{{heading:x-source}}

{{#folded}}
<details><summary>Its {{lines:x-source}} lines</summary>

{{/folded}}
{{#python_code}}
{{code:x-python-fence}}

{{/python_code}}
{{#cpp_code}}
{{code:x-cpp-fence}}

{{/cpp_code}}
{{#folded}}
</details>

{{/folded}}
{{/generated}}
<details><summary>For triage: errors, other settings, labels</summary>

{{#why_eager}}
{{why_eager:x-source}}

{{/why_eager}}
{{#workaround}}
Until it is fixed: {{workaround:x-source}}

{{/workaround}}
{{#ablation}}
- {{outcome:x-markdown}}: {{what:x-markdown}}
{{/ablation}}
{{#no_ablation}}
- Other settings were not tried.
{{/no_ablation}}
{{#inductor_not_asked}}
- Not asked: inductor
{{/inductor_not_asked}}

#### Proposed labels

{{#labels}}
- `{{label:x-source}}`: {{why:x-markdown}}
{{/labels}}
{{#no_labels}}
None: PyTorch's labels are about PyTorch.
{{/no_labels}}
{{#reasons}}
{{#is_first}}

#### Before you file

{{/is_first}}
- Likely to be closed, because {{why:x-markdown}}.
{{/reasons}}

</details>

### Error logs

{{logs:x-fence}}

### Versions

<details><summary>PyTorch {{torch_version:x-html}}: what torch.utils.collect_env says</summary>

{{versions:x-fence}}
{{#processor}}

{{processor:x-fence}}
{{/processor}}

</details>

{{how_made:x-source}} by repro-minify {{version:x-markdown}}{{#model}} from the model {{model:x-markdown}}{{/model}}: {{operators_before:x-source}} before, {{operators_after:x-source}} after.
