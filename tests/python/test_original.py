"""A trace may lose the failure: the model itself is run under torch.compile where its trace passes."""

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import repro_minify
import torch
from models import doubled
from repro_minify.errors import first_line
from repro_minify.original import (
    Accepted,
    How,
    Original,
    difference,
    failure_of_original,
    how_of,
    in_float64,
    problem_of,
    ran,
    reference,
    tensors_in,
)
from repro_minify.saving import as_callable, save_failing
from repro_minify.testing import assert_compiled_same

FOUND = Original("value 1 is another", ("aten::_foreach_mul_",))
X = torch.tensor([2.0, 3.0])


def mirrored(x: torch.Tensor) -> torch.Tensor:
    """TorchInductor of 2.13 reads what it has written; a trace has a product for each tensor."""
    torch._foreach_mul_([x], [x.flip(0)])
    return x


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch, work: Path, fake_program: Path) -> Callable[..., list[list[str]]]:
    """Says what the program was asked, and decides what fails: its checks by number, and the model itself."""
    log = work / "asked"

    def ask(problem: str = "", fails: str = "", reduces: str = "same") -> list[list[str]]:
        monkeypatch.setattr("repro_minify.original.problem_of", lambda *_: problem)
        monkeypatch.setenv("FAKE_FAILS", fails)
        monkeypatch.setenv("FAKE_REDUCES", reduces)
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []

    monkeypatch.setenv("FAKE_LOG", str(log))
    monkeypatch.setenv("REPRO_MINIFY_PROGRAM", str(fake_program))
    return ask


DYNAMO = "--inductor-config=frontend=dynamo"


def test_it_is_said_with_what_the_trace_lacks(world: Any) -> None:
    world("value 1 is another")
    verdict = repro_minify.check(mirrored, X)
    assert verdict.outcome == "pass" and verdict.original == FOUND
    assert "the model itself fails under torch.compile: value 1 is another; its trace has no aten::_foreach_mul_" in (
        str(verdict)
    )
    assert [DYNAMO in words for words in world()] == [False, True]


def test_minify_says_it_too_and_a_test_does_not_pass(world: Any) -> None:
    world("value 1 is another")
    with pytest.raises(repro_minify.DoesNotFail, match="it does not fail; but the model itself fails") as raised:
        repro_minify.minify(mirrored, X)
    assert raised.value.original == FOUND
    with pytest.raises(AssertionError, match="its trace has no aten::_foreach_mul_"):
        assert_compiled_same(mirrored, X)


def test_a_trace_with_another_failure_is_not_reduced(world: Any) -> None:
    world("value 1 is another", fails="1")
    with pytest.raises(repro_minify.DoesNotFail, match="its trace has another failure .crash: m.; the model itself"):
        repro_minify.minify(mirrored, X)


def test_what_dynamo_in_front_shows_is_the_verdict(world: Any) -> None:
    world("value 1 is another", fails="2")
    verdict = repro_minify.check(mirrored, X)
    assert verdict.failed and verdict.original is None
    assert [DYNAMO in words for words in world()] == [False, True]


def test_who_chooses_the_front_end_is_asked_once(world: Any) -> None:
    world("value 1 is another")
    assert repro_minify.check(mirrored, X, inductor_config={"frontend": "fx"}).original == FOUND
    assert len(world()) == 1


@pytest.mark.parametrize("problem", ["", "value 1 is another"])
def test_nothing_is_said_of_what_is_no_conversion_or_does_not_fail(problem: str, world: Any, work: Path) -> None:
    world(problem)
    script = torch.jit.trace(torch.sin, X)
    assert repro_minify.check(script, X).original is None
    assert repro_minify.check(torch.sin, X, backend="jit").original is None
    assert (repro_minify.check(torch.sin, X).original is None) == (problem == "")


def test_one_that_takes_its_process_along_fails(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    world()
    monkeypatch.setattr("repro_minify.original.problem_of", lambda *_: __import__("os").abort())
    original = repro_minify.check(torch.sin, X).original
    assert original and original.problem == "its process ended with signal 6"


def test_a_real_one() -> None:
    how = how_of({})
    assert problem_of(mirrored, ((X,), {}), how).startswith("value 1 is another")
    assert X.tolist() == [2.0, 3.0]
    assert problem_of(lambda x: torch.nn.functional.dropout(x.sin()), ((X,), {}), how) == ""


class Ring(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("state", torch.tensor([2.0, 3.0]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        mirrored(self.get_buffer("state"))
        return x + 1


def test_a_buffer_that_is_left_wrong_is_seen() -> None:
    ring = Ring()
    assert problem_of(ring, ((torch.zeros(1),), {}), how_of({})).startswith("value 3 is another")
    assert ring.get_buffer("state").tolist() == [2.0, 3.0]


def test_how_is_taken_from_the_options() -> None:
    how = how_of({"grad": True, "autocast": True, "inductor_config": ["mode=max-autotune", "cpp.simdlen=1"]})
    assert (how.grad, how.autocast, how.mode) == (True, torch.bfloat16, "max-autotune")
    assert how.config == {"cpp.simdlen": 1}
    assert how_of({"inductor_config": {"dynamic": "true", "cpp.wrapper": None}}) == How(
        False, None, None, True, {"cpp.wrapper": None}
    )
    assert how_of({"grad": True, "only_fwd": True, "inductor_config": {"mode": "x"}}).grad is False


def test_what_is_nearer_to_float64_is_right() -> None:
    eager, better = torch.tensor([1.1]), torch.tensor([1.0])
    exact = torch.tensor([1.0], dtype=torch.float64)
    assert difference([eager], [better], [exact]) == ""
    assert difference([better], [eager], [exact]) != ""
    assert "has the shape [6], in eager [3]" in difference([torch.ones(3)], [torch.ones(6)], None)
    assert difference([better], [better.double()], [exact]) != ""


def planted_where_float32(x: torch.Tensor) -> torch.Tensor:
    return torch.relu(x) * 8 if x.dtype == torch.float32 else torch.sin(x) * 0 - 20


def test_float64_has_no_say_where_the_model_goes_another_way_in_it() -> None:
    """Both errors are large then, and PyTorch's rule would let any result pass."""
    planted = {"inductor_config": {"cpp.inject_relu_bug_TESTING_ONLY": "accuracy"}}
    x: Any = ((torch.tensor([1.0]),), {})
    assert problem_of(planted_where_float32, x, how_of({})) == ""
    assert "value 1 is another" in problem_of(planted_where_float32, x, how_of(planted))


def test_float64_has_its_say_where_eager_is_far_from_it() -> None:
    """The same operators give the truth there, and a cast is none of them."""
    x = torch.tensor([1e8, 1.0, -1e8])
    exact = reference(lambda x: x.float().cumsum(0)[-1:], ((x,), {}), How(False, None, None), [torch.zeros(1)])
    assert exact is not None and exact[0].tolist() == [1.0]


def test_a_nan_that_is_lost_is_another_value() -> None:
    """One makes both errors NaN, and then PyTorch's rule lets any result pass."""
    eager, lost = torch.tensor([1.0, float("nan")]), torch.tensor([1.0, 0.0])
    assert "NaN" in difference([eager], [lost], [eager.double()])
    assert difference([eager], [eager.clone()], [eager.double()]) == ""
    assert difference([eager], [lost], [lost.double()]) == "", "float64 says that eager is wrong"


def test_entries_of_inductors_config_hold_for_the_model_itself() -> None:
    planted = {"cpp.inject_relu_bug_TESTING_ONLY": "accuracy"}
    x: Any = ((torch.tensor([1.0]),), {})
    assert problem_of(torch.relu, x, how_of({})) == ""
    assert "value 1 is another" in problem_of(torch.relu, x, how_of({"inductor_config": planted}))
    with pytest.raises(repro_minify.ReproMinifyError, match="no entry cpp.no_such"):
        problem_of(torch.relu, x, how_of({"inductor_config": "cpp.no_such=1"}))


def test_what_the_user_allows_is_no_failure_of_the_model() -> None:
    """Under torch.compile a buffer of whole numbers is another, and a result by 1 in 100."""

    class Left(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.count = torch.nn.Buffer(torch.zeros(1, dtype=torch.int64))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            wrong = torch.compiler.is_compiling()
            self.count.add_(2 if wrong else 1)
            return x * (1.01 if wrong else 1.0)

    x: Any = ((torch.ones(1),), {})
    assert problem_of(Left(), x, how_of({})) != ""
    assert "value 3" in problem_of(Left(), x, how_of({"tol": 1.0}))
    assert problem_of(Left(), x, how_of({"tol": 1.0, "only_fwd": True})) == ""
    assert problem_of(Left(), x, how_of({"tol": 1.0, "ignore_non_fp": True})) == ""
    assert problem_of(Left(), x, how_of({"check": "run"})) == ""


def through_half(x: torch.Tensor) -> torch.Tensor:
    return x.half().float()


def test_the_reference_in_float64_sees_memory_as_the_model_does() -> None:
    """Between the elements of a view, and in what two inputs share."""
    memory = torch.ones(4)
    for model, inputs, result in (
        (lambda x: torch.as_strided_copy(x.add_(1), (3,), (1,)), (memory[::2],), [2, 1, 2]),
        (lambda x, y: (x.zero_(), y + 1)[1], (memory[:2], memory[1:3]), [1, 2]),
    ):
        reference = in_float64(model, (inputs, {}), How(False, None, None))
        assert reference is not None and reference[0].tolist() == result


def test_a_cast_that_the_program_asks_for_rounds_nothing_in_float64() -> None:
    """TorchInductor leaves out the cast to float16, which PyTorch closes as intended."""
    x = torch.tensor([0.1, 0.3])
    reference = in_float64(through_half, ((x,), {}), How(False, None, None))
    assert reference is not None and torch.equal(reference[0], x.double())
    assert difference([through_half(x)], [x], reference) == ""


@torch.library.custom_op("repro_minify_tests::threefold", mutates_args=())
def threefold(x: torch.Tensor) -> torch.Tensor:
    return x * 3


def test_an_operator_that_is_registered_from_python_is_named(world: Any) -> None:
    world("value 1 is another")
    with pytest.raises(repro_minify.BadInput, match="it calls repro_minify_tests::threefold, .*; the model itself f"):
        repro_minify.check(lambda x: threefold(x) + 1, X)


@pytest.mark.parametrize("ask", [repro_minify.check, repro_minify.minify])
def test_what_cannot_be_traced_is_run_itself(ask: Any, world: Any) -> None:
    refused = "doubled cannot be made TorchScript: .* it calls Doubled, which is Python"
    world("it raises TorchRuntimeError: dtypes differ")
    with pytest.raises(repro_minify.BadInput, match=f"{refused}.*; the model itself fails under torch.compile: it rai"):
        ask(doubled, X, grad=True)
    world("")
    same = "doubled: does not fail: under torch.compile it gives the same as in eager"
    if ask is repro_minify.check:
        verdict = ask(doubled, X, grad=True)
        assert (verdict.outcome, verdict.message) == ("pass", same)
    else:
        with pytest.raises(repro_minify.DoesNotFail, match=same):
            ask(doubled, X, grad=True)


def test_whole_numbers_may_not_differ_at_all() -> None:
    """PyTorch's rule gives a large one the tolerance of a floating-point number."""
    large = torch.tensor([4_294_967_297])
    problem = difference([large], [large + 18], None)
    assert problem == "value 1 is another, of whole numbers, which PyTorch's rule lets pass"
    assert difference([large], [large.clone()], None) == ""


def test_a_machine_without_a_compiler_says_nothing_of_the_model() -> None:
    how = How(grad=False, autocast=None, config={"cpp.cxx": (None, "no-such-compiler")})
    with pytest.raises(repro_minify.ReproMinifyError, match="no C\\+\\+ compiler here"):
        problem_of(lambda x: torch.sin(x) + 1, ((X,), {}), how)


def refuses(x: torch.Tensor) -> torch.Tensor:
    """Dynamo of 2.13 leaves out what eager looks at."""
    return torch.nn.functional.interpolate(x, size=2)


def test_what_eager_refuses_and_torch_compile_takes_is_said() -> None:
    """TorchInductor of 2.13 gives numbers of memory that nothing has written to."""
    found = problem_of(refuses, ((torch.ones(1, 1, 0),), {}), how_of({}))
    assert isinstance(found, Accepted) and "should be greater than 0" in found
    found = problem_of(lambda x: torch.normal(x, -x), ((X,), {}), how_of({}))
    assert isinstance(found, Accepted) and "std >= 0.0" in found
    with pytest.raises(repro_minify.ReproMinifyError, match="eager itself raises"):  # so does torch.compile
        problem_of(lambda x: x.view(7), ((torch.ones(1, 1),), {}), how_of({}))


def test_minify_says_that_eager_refuses_it(world: Any) -> None:
    world(Accepted("ValueError: no"))
    with pytest.raises(repro_minify.BadInput, match="mirrored: eager raises ValueError: no, and under torch.compile"):
        repro_minify.minify(mirrored, X)
    assert not world()


class Turns(torch.nn.Module):
    """Gives another result at each call, as an object's attribute changes, and has no TorchScript."""

    def __init__(self) -> None:
        super().__init__()
        self.state = type("State", (), {"turn": 1.0})()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.state.turn = -self.state.turn
        return x * self.state.turn


def test_why_nothing_is_known_of_a_model_is_said_where_it_has_no_trace(work: Path) -> None:
    with pytest.raises(repro_minify.BadInput, match="cannot be made TorchScript: .*; two eager runs differ: value 1"):
        repro_minify.minify(Turns(), X)


def test_what_a_backend_raised_is_said_and_not_that_it_raised() -> None:
    error = RuntimeError("backend='inductor' raised:\nValueError: why")
    error.inner_exception = ValueError("why")  # type: ignore[attr-defined]
    assert first_line(error) == "ValueError: why"
    assert first_line(ValueError("Got graph break/error:\n\nimproper combine_fn\n  more")) == (
        "ValueError: Got graph break/error: improper combine_fn"
    )


def test_inputs_that_cannot_be_copied_are_no_fault_of_eager() -> None:
    with pytest.raises(repro_minify.ReproMinifyError, match="^its inputs cannot be copied: "):
        problem_of(lambda x: x + 1, ((torch._efficientzerotensor((1,)),), {}), how_of({}))


class Remembers(torch.nn.Module):
    """Gives another result from its second call under Dynamo on."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if torch.compiler.is_compiling():
            torch._dynamo.graph_break()
            CALLS.append(1)
        return x + (len(CALLS) > 1)


CALLS: list[int] = []


def test_a_second_call_is_looked_at_too() -> None:
    assert problem_of(Remembers(), ((X,), {}), how_of({})).startswith("in its second call value 1 is another")


def refused(graph: torch.fx.GraphModule, examples: Any) -> Any:
    """A backend of the user's: what it has compiled must not run where eager is asked."""
    raise AssertionError("it was compiled")


class Outer(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = torch.compile(torch.nn.ReLU(), backend=refused)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner(x) + 1


def made_compiled(kind: str) -> Any:
    if kind == "a function":
        return torch.compile(lambda x: x + 1, backend=refused)
    if kind == "a part of a module":
        return Outer()
    if kind == "a module":
        return torch.compile(torch.nn.ReLU(), backend=refused)
    module = torch.nn.ReLU()
    module.compile(backend=refused)
    return module


@pytest.mark.parametrize("kind", ["a function", "a module", "a module in place", "a part of a module"])
def test_what_the_user_has_compiled_runs_in_eager(kind: str, work: Path) -> None:
    model = made_compiled(kind)
    expected = [torch.relu(X) if kind.startswith("a module") else X + 1, X]
    found = ran(as_callable(model), ((X,), {}), how_of({}))
    assert all(map(torch.equal, found, expected))
    if kind != "a part of a module":  # PyTorch refuses to trace that
        save_failing(model, X, work)


@dataclasses.dataclass
class Pair:
    first: torch.Tensor
    rest: Any = None


class Named(dict[str, Any]):
    """One such as transformers' outputs are of: pytree knows no class of dict but its own."""


class Held:
    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor


def test_tensors_are_found_in_whatever_says_what_it_is_made_of() -> None:
    value = [Pair(X, Pair(X + 1)), Named(y=X + 2), torch.Size([1]), None]
    assert [x.tolist() for x in tensors_in(value)] == [[2, 3], [3, 4], [4, 5]]
    with pytest.raises(repro_minify.ReproMinifyError, match="it returns Held, of which nothing can be compared"):
        problem_of(lambda x: Held(x), ((X,), {}), how_of({}))


def test_a_comparison_that_raises_says_nothing_of_eager(work: Path) -> None:
    x = torch.quantize_per_tensor(X, 0.1, 0, torch.quint8)
    found = failure_of_original(lambda x: x.dequantize().relu(), ((x,), {}), work, {})
    assert not found and not found.accepts and "quantized" in found.unknown


def test_without_anything_to_differentiate_there_are_no_gradients() -> None:
    ids = torch.tensor([1, 2])
    assert len(ran(lambda x: x * X.requires_grad_(), ((ids,), {}), how_of({"grad": True}))) == 2


def test_a_test_does_not_pass_where_nothing_is_known(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: Any) -> str:
        raise repro_minify.ReproMinifyError("it does not end")

    world()
    monkeypatch.setattr("repro_minify.original.problem_of", unknown)
    with pytest.raises(repro_minify.DoesNotFail, match="whether the model itself fails is not known: it does not end"):
        assert_compiled_same(mirrored, X)
