{{definition:x-statements}}
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
{{#interpreted}}


def eager(model):  # what TorchScript's interpreter computes without optimisation
    scripted = torch.jit.script(model)
    return lambda *inputs: torch._C._jit_interpret_graph(scripted.graph, ({{#is_module}}scripted._c, {{/is_module}}*inputs,))
{{/interpreted}}
{{#compiled}}


def compiled(model):
    def call(*inputs):
{{#statements}}
        {{value:x-source}}
{{/statements}}
        return found{{#single}}[0]{{/single}}

    return call
{{/compiled}}
{{#run}}


def run({{#is_module}}prepare{{/is_module}}{{#no_is_module}}call{{/no_is_module}}):
{{#is_module}}
    model = {{callable:x-source}}
    call = prepare(model)
{{/is_module}}
{{#repeated}}
    for _ in range({{value:x-source}}):
{{/repeated}}
{{#seed}}
    {{indent:x-source}}torch.manual_seed({{seed:x-source}})
{{/seed}}
{{#inputs}}
    {{indent:x-source}}{{name:x-source}} = {{tensor:x-source}}
{{/inputs}}
{{#autocast}}
    {{indent:x-source}}with torch.autocast("{{device:x-source}}", dtype={{autocast:x-source}}):
        {{indent:x-source}}result = call({{arguments:x-source}})
{{/autocast}}
{{#no_autocast}}
    {{indent:x-source}}result = call({{arguments:x-source}})
{{/no_autocast}}
{{#mean}}
    result.mean().backward()
    return [{{#forward_too}}result.detach(), {{/forward_too}}{{gradients:x-source}}]
{{/mean}}
{{#loss}}
    results = list(result) if isinstance(result, (list, tuple)) else [result]
    parts = [r for r in results if torch.is_tensor(r) and r.requires_grad]
    leaves = [leaf for leaf in [{{leaves:x-source}}] if leaf.requires_grad]
    sums = [(torch.view_as_real(part) if part.is_complex() else part).sum() / part.numel() for part in parts]
    loss = sum(sums) / max(1, sum(map(torch.is_tensor, results)))
    gradients = torch.autograd.grad(loss, leaves, materialize_grads=True) if parts else map(torch.zeros_like, leaves)
    return [{{#forward_too}}*results, {{/forward_too}}*gradients]
{{/loss}}
{{#state}}
    return [{{arguments:x-source}}{{#is_module}}, *model.buffers(){{/is_module}}]
{{/state}}
{{#plain}}
    return result
{{/plain}}
{{/run}}


{{#calls}}
{{value:x-source}}
{{/calls}}
{{#close}}
torch.testing.assert_close(found, expected{{#tolerance}}, rtol={{rtol:x-source}}, atol={{atol:x-source}}{{/tolerance}}{{#equal_nan}}, equal_nan=True{{/equal_nan}}{{#any_dtype}}, check_dtype=False{{/any_dtype}}{{#strides}}, check_stride=True{{/strides}})
{{/close}}
{{#pairwise}}
for e, r in {{pairs:x-source}}:
{{#rms}}
    error = torch.nan_to_num(r.double() - e.double(), 0, 0, 0).square().mean().sqrt()
    assert error <= {{limit:x-source}}, f"the root mean square of the difference is {error}"
{{/rms}}
{{#bound}}
    bound = e.double().abs().clamp_min(1) * {{rtol:x-source}} + {{limit:x-source}}
    assert ((r.double() - e.double()).abs() <= bound).all(), f"expected {e}, found {r}"
{{/bound}}
{{#exact}}
    same = (e == r) & (e.signbit() == r.signbit()) | e.isnan() & r.isnan()
    assert same.all(), f"expected {e}, found {r}"
{{/exact}}
{{#equal}}
    assert e.is_floating_point() or torch.equal(e, r), f"expected {e}, found {r}"
{{/equal}}
{{#direction}}
    cosine = torch.nn.functional.cosine_similarity(e.flatten().float(), r.flatten().float(), dim=0, eps=1e-6)
    same = torch.allclose(e.float(), r.float(), rtol={{rtol:x-source}}, atol={{atol:x-source}}, equal_nan=True)
    assert same or cosine >= {{limit:x-source}}, f"the cosine similarity is {cosine}"
{{/direction}}
{{#overlap}}
    overlap = (e & r).sum().item() / max(1, (e | r).sum().item()) if e.dtype == r.dtype == torch.bool else 1
    assert overlap >= {{limit:x-source}} or not e.any() and not r.any(), f"the overlap is {overlap}"
{{/overlap}}
{{/pairwise}}
