"""Every kind of model becomes a failing.pt that computes the same."""

import itertools
import resource
from pathlib import Path
from typing import Any

import pytest
import torch
from repro_minify import BadInput
from repro_minify.inputs import arguments_of_call
from repro_minify.saving import Saved, name_of, save_failing, settings_of_device
from torch._subclasses import FakeTensorMode


class Nested(torch.nn.Module):
    def forward(self, x: torch.Tensor, pair: Any, *, scale: float = 1.0, more: Any = None) -> Any:
        y = x * scale + pair["a"][0]
        return {"y": y, "z": [y - more, None, 3]}


class Halves(torch.nn.Module):
    """Views of another dtype, one of memory that is written to later."""

    def forward(self, x: torch.Tensor) -> Any:
        halves = x.view(torch.int32) * 2
        whole = x.view(-1)
        x[:1] = 9
        return halves, whole, x.view(dtype=torch.float64), torch.view_copy(x, torch.float32), x.view(torch.int8)


class Counts(torch.nn.Module):
    """A trace cannot know its results from those of another run."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = itertools.count(1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * next(self.calls)


class Raises(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.reshape(7, 7)


def reloaded(saved: Saved) -> Any:
    values = torch.load(saved.inputs)
    return torch.jit.load(str(saved.model))(*values)


def doubled(x: torch.Tensor) -> torch.Tensor:
    return x + x


X = torch.arange(6.0).reshape(2, 3)


def test_nested_and_named_arguments(work: Path) -> None:
    inputs = ((X, {"a": [torch.ones(3), "word"]}), {"scale": 2.0, "more": torch.ones(1)})
    expected = Nested()(*inputs[0], **inputs[1])
    y, z = reloaded(save_failing(Nested(), inputs, work))
    assert torch.equal(y, expected["y"]) and torch.equal(z, expected["z"][0])


@pytest.mark.parametrize("kind", ["module", "exported"])
def test_views_of_another_dtype_share_memory(kind: str, work: Path) -> None:
    expected = Halves()(torch.zeros(2, dtype=torch.int64))
    x = torch.zeros(2, dtype=torch.int64)
    model = torch.export.export(Halves(), (x,)) if kind == "exported" else Halves()
    found = reloaded(save_failing(model, (x,), work))
    assert [each.dtype for each in found] == [each.dtype for each in expected]
    assert all(torch.equal(one, other) for one, other in zip(found, expected, strict=True))


def with_numbers(x: torch.Tensor) -> torch.Tensor:
    y = (x + 1).mul(2) - 3
    y += 4
    return torch.div(y, 2, rounding_mode="floor") // 2 + (3 / x).to(torch.int32)


def test_numbers_stay_numbers(work: Path) -> None:
    """A trace by itself makes tensors of them: nothing overflows where int32 is added to a constant of int64."""
    x = torch.tensor([5, 2147483647], dtype=torch.int32)
    saved = save_failing(with_numbers, (x,), work)
    assert torch.equal(reloaded(saved), with_numbers(x))
    constants = [node for node in torch.jit.load(str(saved.model)).inlined_graph.nodes() if "Constant" in node.kind()]
    assert not [node for node in constants if "Tensor" in str(node.output().type())]


class Clipped(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, low: float) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x.clamp(min=low) if ctx.needs_input_grad == (False, False) else x


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(x: torch.Tensor) -> torch.Tensor:
        return x * 3

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)


def test_a_function_with_a_backward_of_its_own_is_its_forward_without_gradients(work: Path) -> None:
    def call(x: torch.Tensor) -> torch.Tensor:
        return Scaled.apply(Clipped.apply(x, 2.0))

    saved = save_failing(call, X, work)
    assert torch.equal(reloaded(saved), call(X))
    kinds = {node.kind() for node in torch.jit.load(str(saved.model)).inlined_graph.nodes()}
    assert {"aten::clamp", "aten::mul"} <= kinds
    with pytest.raises(BadInput, match="it calls Clipped, which is Python"):
        save_failing(call, X, work, grad=True)


def sine(x: torch.Tensor) -> torch.Tensor:
    return torch.sin(x) + 1


def model_of(kind: str, module: torch.nn.Module, x: torch.Tensor) -> Any:
    if kind == "script":
        return torch.jit.script(module)
    if kind == "exported":
        return torch.export.export(module, (x,))
    if kind == "fx":
        return torch.fx.symbolic_trace(module)
    return {"module": module, "function": sine, "script function": torch.jit.script(doubled)}[kind]


@pytest.mark.parametrize("kind", ["module", "function", "script", "script function", "exported", "fx"])
def test_kinds_of_model(kind: str, work: Path, wrong: torch.nn.Module) -> None:
    x = torch.linspace(0, 1, 12).reshape(2, 2, 3)
    model = model_of(kind, wrong, x)
    call = model.module() if kind == "exported" else model
    torch.testing.assert_close(reloaded(save_failing(model, x, work)), call(x))


def test_an_exported_program_has_its_inputs(work: Path, wrong: torch.nn.Module) -> None:
    x = torch.rand(2, 2, 3)
    torch.testing.assert_close(reloaded(save_failing(torch.export.export(wrong, (x,)), None, work)), wrong(x))


def test_tracing_leaves_a_module_as_it_was(work: Path) -> None:
    norm = torch.nn.BatchNorm1d(3)
    before = {name: value.clone() for name, value in norm.state_dict().items()}
    state = torch.random.get_rng_state()
    saved = save_failing(norm, X, work)
    assert all(torch.equal(value, before[name]) for name, value in norm.state_dict().items())
    assert torch.equal(torch.random.get_rng_state(), state)
    archived = torch.jit.load(str(saved.model)).state_dict()
    assert all(torch.equal(value, before[name.removeprefix("_.")]) for name, value in archived.items())


class Table(torch.nn.Module):
    """Keeps a buffer that stands for several elements, one that is made as it runs, and one that autograd saves."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("wide", torch.ones(1).expand(3))
        self.register_buffer("scale", torch.full((3,), 2.0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if "made" not in self._buffers:
            self.register_buffer("made", torch.ones(3))
        return x * self.scale * self.wide


def test_buffers_are_put_back_unseen(work: Path) -> None:
    module = Table()
    save_failing(module, X, work)
    assert "made" not in module._buffers and torch.equal(module.wide, torch.ones(3))
    x = torch.ones(3, requires_grad=True)
    y = module(x)
    save_failing(module, X, work)
    y.sum().backward()  # what it has saved was not written to
    assert x.grad is not None and torch.equal(x.grad, torch.full((3,), 2.0))


def test_a_full_disk_is_an_error_and_no_end_of_the_process(work: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(OSError):
            save_failing(torch.nn.Linear(3, 200), X, work)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_the_seed_of_a_device_that_is_not_in_use_stays(work: Path) -> None:
    torch.manual_seed(1234)
    waiting = list(torch.cuda._lazy_seed_tracker.get_calls())
    save_failing(torch.nn.Linear(3, 2), X, work)
    assert torch.cuda._lazy_seed_tracker.get_calls() == waiting


def test_inputs_are_those_before_the_call(work: Path) -> None:
    x = torch.ones(3)
    saved = save_failing(lambda t: t.add_(1) * 2, x, work)
    assert torch.equal(x, torch.ones(3)) and torch.equal(torch.load(saved.inputs)[0], torch.ones(3))


@pytest.mark.parametrize("grad", [False, True])
def test_an_input_wishes_for_a_gradient_where_gradients_are_asked_for(grad: bool, work: Path) -> None:
    x, y = torch.ones(2, requires_grad=True), torch.ones(2)
    for model in (lambda a, b: a * b, torch.jit.script(torch.nn.Bilinear(2, 2, 1))):
        saved = save_failing(model, (x, y), work, grad=grad)
        assert [value.requires_grad for value in torch.load(saved.inputs)] == [grad, False]


def test_a_trace_that_computes_something_else_is_no_model(work: Path) -> None:
    with pytest.raises(BadInput, match=r"Counts cannot be made TorchScript: torch.jit.trace: .*something else"):
        save_failing(Counts(), X, work)


def test_what_raises_becomes_a_script(work: Path) -> None:
    saved = save_failing(Raises().train(), X, work)
    with pytest.raises(RuntimeError, match="shape '\\[7, 7\\]' is invalid"):
        reloaded(saved)
    assert saved.train and not save_failing(Raises().eval(), X, work).train


def test_what_is_no_model_is_said(work: Path) -> None:
    with pytest.raises(BadInput, match="int is no model: give a torch.nn.Module"):
        save_failing(3, X, work)
    with pytest.raises(BadInput, match="Raises: no inputs given"):
        save_failing(Raises(), None, work)
    with pytest.raises(BadInput, match="it returns str, no tensors"):
        save_failing(lambda t: "text", X, work)


def test_a_name_is_made_a_file_s_name() -> None:
    hostile = type("../../etc/<script>", (torch.nn.Module,), {})
    assert name_of(hostile()) == "etc_script"
    assert name_of(lambda: 0) == "lambda"
    assert name_of(type("漢", (), {})()) == "model"


def test_inputs_are_the_arguments_of_a_call() -> None:
    x, y = torch.ones(1), torch.zeros(1)
    assert arguments_of_call(x) == ((x,), {})
    assert arguments_of_call([x, y]) == ((x, y), {})
    assert arguments_of_call({"a": x}) == ((), {"a": x})
    assert arguments_of_call(((x,), {"b": y})) == ((x,), {"b": y})
    assert arguments_of_call(([x], [y])) == (([x], [y]), {})


def test_a_model_runs_on_the_device_that_its_tensors_are_on() -> None:
    assert settings_of_device(torch.relu, torch.ones(2)) == {}
    with FakeTensorMode():
        cuda = {"device": "cuda:0", "autocast": False}
        assert settings_of_device(torch.add, (torch.ones(2), {"other": torch.ones(2, device="cuda")})) == cuda
        module = torch.nn.Module()
        module.weight = torch.nn.Parameter(torch.empty(2, device="cuda"))
        assert settings_of_device(module, ()) == cuda
