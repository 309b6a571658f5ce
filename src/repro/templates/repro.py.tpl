{{headline:x-py-comment-lines}}
{{found:x-py-comment-lines}}
{{made:x-py-comment-lines}}

{{#has_operators}}
from pathlib import Path

{{/has_operators}}
{{#types}}
from typing import {{types:x-source}}

{{/types}}
import torch
{{#operators}}

torch.ops.load_library(str(Path(__file__).resolve().with_name("{{value:x-source}}")))
{{/operators}}
{{#settings}}

{{#list}}
{{value:x-source}}
{{/list}}
{{/settings}}


{{#function}}
{{function:x-statements}}
{{/function}}
{{#methods}}
class Repro(torch.nn.Module):
{{#attributes}}
    def __init__(self):
        super().__init__()
{{#list}}
{{#is_parameter}}
        self.{{name:x-source}} = torch.nn.Parameter({{tensor:x-source}}, requires_grad={{requires_grad:x-source}})
{{/is_parameter}}
{{#no_is_parameter}}
        self.register_buffer("{{name:x-source}}", {{tensor:x-source}})
{{/no_is_parameter}}
{{/list}}

{{/attributes}}
{{methods:x-statements}}
{{/methods}}
{{#rewriting}}


def {{name:x-source}}(model):
{{#has_attributes}}
    graph = torch.jit.script(model).graph.copy()
    for node in graph.findAllNodes("prim::GetAttr"):
        with graph.insert_point_guard(node):
            node.output().replaceAllUsesWith(graph.insertConstant(getattr(model, node.s("name")).detach()))
        node.destroy()
    graph.eraseInput(0)
{{/has_attributes}}
{{#no_has_attributes}}
    graph = torch.jit.script(model).graph.copy()
{{/no_has_attributes}}
{{#statements}}
    {{value:x-source}}
{{/statements}}
    return torch._C._create_function_from_graph("forward", graph)
{{/rewriting}}
{{#run}}


def run(call):
{{#seed}}
    torch.manual_seed({{seed:x-source}})
{{/seed}}
{{#inputs}}
    {{name:x-source}} = {{tensor:x-source}}
{{/inputs}}
{{#autocast}}
    with torch.autocast("{{device:x-source}}", dtype={{autocast:x-source}}):
        result = call({{arguments:x-source}})
{{/autocast}}
{{#no_autocast}}
    result = call({{arguments:x-source}})
{{/no_autocast}}
{{#mean}}
    result.mean().backward()
    return [{{#forward_too}}result.detach(), {{/forward_too}}{{gradients:x-source}}]
{{/mean}}
{{#loss}}
    results = list(result) if isinstance(result, (list, tuple)) else [result]
    parts = [torch.view_as_real(r) if r.is_complex() else r for r in results if torch.is_tensor(r) and r.requires_grad]
    leaves = [leaf for leaf in [{{leaves:x-source}}] if leaf.requires_grad]
    loss = sum(part.sum() / part.numel() for part in parts)
    gradients = torch.autograd.grad(loss, leaves, allow_unused=True) if parts else []
    return [{{#forward_too}}*results, {{/forward_too}}*(torch.zeros(()) if g is None else g for g in gradients)]
{{/loss}}
{{#state}}
    return [result, {{arguments:x-source}}{{#has_buffers}}, *model.buffers(){{/has_buffers}}]
{{/state}}
{{#plain}}
    return result
{{/plain}}
{{/run}}


{{#no_run}}
{{#inputs}}
{{name:x-source}} = {{tensor:x-source}}
{{/inputs}}
{{/no_run}}
{{#model}}
model = Repro().eval()
{{/model}}
{{#interpreted}}


def eager(*inputs):  # what TorchScript's interpreter computes without optimisation
    scripted = torch.jit.script({{callable:x-source}})
    return torch._C._jit_interpret_graph(scripted.graph, ({{#model}}scripted._c, {{/model}}*inputs,))


{{/interpreted}}
expected = {{expected:x-source}}
print("eager:", expected, flush=True)
optimised = {{optimised:x-source}}
{{#plain_interpreter}}
torch._C._set_graph_executor_optimize(False)  # the plain interpreter runs the result
{{/plain_interpreter}}
{{#calls}}
for _ in range({{calls:x-source}}):
    found = {{called:x-source}}
{{/calls}}
{{#no_calls}}
found = {{called:x-source}}
{{/no_calls}}
{{#close}}
torch.testing.assert_close(found, expected, rtol={{rtol:x-source}}, atol={{atol:x-source}}, {{#equal_nan}}equal_nan=True, {{/equal_nan}}check_dtype={{check_dtype:x-source}},{{#strides}} check_stride=True,{{/strides}}
                           msg=lambda text: text + "\n" + {{marker:x-py-string}})
{{/close}}
{{#pairwise}}
for e, f in {{pairs:x-source}}:
{{#rms}}
    error = torch.nan_to_num(f.double() - e.double(), 0, 0, 0).square().mean().sqrt()
    assert error <= {{limit:x-source}}, f"the root mean square of the difference is {error}\n" + {{marker:x-py-string}}
{{/rms}}
{{#bound}}
    bound = e.double().abs().clamp_min(1) * {{rtol:x-source}} + {{limit:x-source}}
    assert ((f.double() - e.double()).abs() <= bound).all(), f"expected {e}, found {f}\n" + {{marker:x-py-string}}
{{/bound}}
{{#exact}}
    same = (e == f) & (e.signbit() == f.signbit()) | e.isnan() & f.isnan()
    assert same.all(), f"expected {e}, found {f}\n" + {{marker:x-py-string}}
{{/exact}}
{{#equal}}
    assert e.is_floating_point() or torch.equal(e, f), f"expected {e}, found {f}\n" + {{marker:x-py-string}}
{{/equal}}
{{#direction}}
    cosine = torch.nn.functional.cosine_similarity(e.flatten().float(), f.flatten().float(), dim=0, eps=1e-6)
    same = torch.allclose(e.float(), f.float(), rtol={{rtol:x-source}}, atol={{atol:x-source}}, equal_nan=True)
    assert same or cosine >= {{limit:x-source}}, f"the cosine similarity is {cosine}\n" + {{marker:x-py-string}}
{{/direction}}
{{#overlap}}
    overlap = (e & f).sum().item() / max(1, (e | f).sum().item()) if e.dtype == f.dtype == torch.bool else 1
    assert overlap >= {{limit:x-source}} or not e.any() and not f.any(), f"the overlap is {overlap}\n" + {{marker:x-py-string}}
{{/overlap}}
{{/pairwise}}
