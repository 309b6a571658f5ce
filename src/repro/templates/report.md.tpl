# {{kind:x-source}} failure under {{backend_title:x-markdown}}

{{#not_reduced}}
**Not reduced: this is the model as it was given.** {{not_reduced:x-markdown}}

{{/not_reduced}}
{{#bisection}}
**{{sentence:x-markdown}}** {{note:x-markdown}} ({{steps:x-source}}, {{checks:x-source}}, {{seconds:x-source}})

{{/bisection}}
{{found:x-markdown}}

{{#not_reduced}}
`reduced.pt` is the model as it was given, and `inputs.pt` holds its inputs{{/not_reduced}}{{#no_not_reduced}}{{program:x-python-fence}}

{{#any_input}}
| input | role | type | value |
|---|---|---|---|
{{#inputs}}
| {{name:x-markdown}} | {{role:x-source}} | {{type:x-markdown}} | {{how:x-markdown}} |
{{/inputs}}

{{/any_input}}
`reduced.pt` and `inputs.pt` hold this program{{/no_not_reduced}}{{#has_passing}}; `passing.pt` is the closest program that passes{{/has_passing}}{{#python_shows}}; `repro.py` is the same as one Python file (`python3 repro.py`){{/python_shows}}{{#no_has_cpp}}.{{/no_has_cpp}}{{#has_cpp}}{{#cpp_shows}}{{#no_loads_package}}; `repro.cpp` with `CMakeLists.txt` is the same as one C++ file{{/no_loads_package}}{{#loads_package}}, and `repro.cpp` with `CMakeLists.txt` loads it as AOTInductor has compiled it (`model.pt2`){{/loads_package}}{{/cpp_shows}}{{#no_cpp_shows}}. It shows from Python only: `repro.cpp` says why, and runs `repro.py`{{/no_cpp_shows}}:

```sh
cmake -S . -B build -DCMAKE_PREFIX_PATH="$(python3 -c 'import torch; print(torch.utils.cmake_prefix_path)')"
cmake --build build && ./build/repro
```{{/has_cpp}}

| | |
|---|---|
| PyTorch | {{torch_version:x-markdown}} |
{{#not_confined}}
| Not confined | {{not_confined:x-markdown}} |
{{/not_confined}}
| backend | {{backend:x-markdown}}{{#grad}}, with gradients{{/grad}} |
| failure | {{signature:x-markdown}}{{#failing_call}}, first wrong on call {{failing_call:x-source}}{{/failing_call}} |
| originally | {{original:x-markdown}} |
{{#left_out}}
| not compared | {{left_out:x-markdown}} |
{{/left_out}}
| size | {{size_before:x-source}} → {{size_after:x-source}} |
{{#operator_libraries}}
| operators of its own | {{operator_libraries:x-markdown}} |
{{/operator_libraries}}
{{#converted}}
| model | {{converted:x-markdown}} |
{{/converted}}
| flattened | {{flattened:x-markdown}}{{#hidden_by}}; {{hidden_by:x-markdown}} hides the failure{{/hidden_by}} |
| checks | {{checks:x-source}} in {{search_seconds:x-source}} |
| 1-minimal | {{one_minimal:x-markdown}} |
| repro verified | {{verified:x-markdown}}{{#not_verified}}**no**: {{not_verified:x-markdown}}{{/not_verified}} |
{{#python_verified}}
| repro.py verified | {{python_verified:x-markdown}} |
{{/python_verified}}
{{#nature}}
| bug or rounding | {{nature:x-markdown}} |
{{/nature}}
{{#explanation}}
| how | {{explanation:x-source}} |
{{/explanation}}
{{#versions}}
| versions | {{versions:x-markdown}} |
{{/versions}}
{{#workaround}}
| until it is fixed | {{workaround:x-source}} |
{{/workaround}}
{{#nearer}}
| float64 | {{nearer:x-markdown}} differs, nearer to float64 than eager |
{{/nearer}}
{{#reads_unwritten}}
| memory | what it returns depends on uninitialised memory |
{{/reads_unwritten}}
{{#compiled}}
| compiled | {{compiled:x-source}} operators |
{{/compiled}}
{{#others}}
| under {{name:x-markdown}} | {{verdict:x-markdown}} |
{{/others}}
{{#rate}}
| how often | the original failed in {{failed:x-source}} of {{runs:x-source}} runs; a candidate had to in {{need:x-source}} of up to {{repeat:x-source}} |
{{/rate}}
| settings | {{settings:x-markdown}} |

{{#no_not_reduced}}
<details><summary>What each pass did</summary>

| pass | turns | tried | worked | operators removed | checks | time |
|---|---|---|---|---|---|---|
{{#passes}}
| {{pass:x-markdown}} | {{turns:x-source}} | {{tried:x-source}} | {{worked:x-source}} | {{operators_removed:x-source}} | {{checks:x-source}} | {{seconds:x-source}} |
{{/passes}}

</details>

{{/no_not_reduced}}
{{#simplifications}}
<details><summary>What does not apply any more</summary>

{{#list}}
- {{pass:x-markdown}}: {{what:x-markdown}}
{{/list}}

</details>

{{/simplifications}}
{{#not_reduced}}Handed back{{/not_reduced}}{{#no_not_reduced}}Minimised{{/no_not_reduced}} by repro-minify {{version:x-markdown}} from {{model:x-markdown}}.
