"""Programs of torch.export, whose calls are kept: leaves for arguments, and parameters and buffers for further ones."""

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
import exported  # noqa: E402
import fx_graph_of  # noqa: E402
import fx_run  # noqa: E402
import torch  # noqa: E402

DOORS = Path(__file__).resolve().parents[2] / "fixtures" / "doors"


class Everything(torch.nn.Module):
    """Takes nested arguments, some by name, and writes to a buffer, to an input, and by a `_foreach_` operator."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.arange(6.0).reshape(2, 3))
        self.register_buffer("total", torch.zeros(3))

    def forward(self, pair: Any, *, last: torch.Tensor, first: torch.Tensor) -> Any:
        self.total.add_(pair["x"].sum(0))
        last.mul_(2)
        torch._foreach_mul_([first], [first.flip(0)])
        return {"a": pair["x"] @ self.weight.T - first, "b": [self.total + pair["y"], last]}


def test_every_call_is_kept_and_does_the_same(tmp_path: Path) -> None:
    """Its arguments by name are given in another order than forward has them."""
    model = Everything()
    args = ({"x": torch.rand(2, 3), "y": torch.rand(3)},)
    kwargs = {"first": torch.rand(2), "last": torch.rand(3)}
    torch.export.save(torch.export.export(model, args, kwargs), tmp_path / "model.pt2")
    made = fx_graph_of.convert(exported.read(str(tmp_path / "model.pt2"), 0))
    assert "_foreach_mul_" in str(made.script.graph)
    names = [value.debugName().partition(".")[0] for value in made.script.graph.inputs()]
    inputs = dict(zip(names[1:], made.inputs, strict=True))
    assert {"last", "first", "weight", "total"} <= inputs.keys() and len(inputs) == 6
    found = fx_run.run(made.script, made.inputs)
    expected = torch.utils._pytree.tree_leaves(model(*args, **kwargs))
    assert all(torch.equal(ours, theirs) for ours, theirs in zip(found, expected, strict=True))
    assert torch.equal(inputs["total"], model.total) and torch.equal(inputs["last"], kwargs["last"])


@pytest.mark.parametrize("other", [Everything(), torch.nn.Linear(3, 3), torch.nn.BatchNorm1d(3).eval()])
def test_weights_stay_attributes_where_no_call_writes_to_them(tmp_path: Path, other: torch.nn.Module) -> None:
    """Two of one shape of module do not share a forward."""
    args: Any = (torch.rand(2, 3),)
    kwargs = {}
    if isinstance(other, Everything):
        args, kwargs = ({"x": torch.rand(2, 3), "y": torch.rand(3)},), {"first": torch.rand(2), "last": torch.rand(3)}
    torch.export.save(torch.export.export(other, args, kwargs), tmp_path / "model.pt2")
    made = fx_graph_of.convert(exported.read(str(tmp_path / "model.pt2"), 0), True)
    writes = isinstance(other, Everything)
    held = dict(made.script.named_buffers())
    assert len(made.inputs) == (6 if writes else 1) and bool(held) != writes
    found = fx_run.run(made.script, made.inputs)
    expected = torch.utils._pytree.tree_leaves(other(*args, **kwargs))
    assert all(torch.equal(ours, theirs) for ours, theirs in zip(found, expected, strict=True))


@pytest.mark.parametrize("path", sorted((DOORS / "exported").glob("*.pt2")), ids=lambda path: path.stem)
def test_those_of_pytorchs_own(path: Path) -> None:
    loaded = exported.read(str(path), 0)
    assert fx_graph_of.convert(loaded).script


def test_a_file_of_inputs_takes_the_place_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "model.pt2"
    torch.export.save(torch.export.export(torch.nn.Linear(3, 2), (torch.rand(2, 3),)), path)
    given = torch.ones(2, 3)
    forms: list[Any] = [given, (given,), {"input": given}, ((given,), {})]
    for saved in forms:
        torch.save(saved, tmp_path / "inputs.pt")
        loaded = exported.read(str(path), 0, str(tmp_path / "inputs.pt"))
        assert not loaded.only_traced and torch.equal(loaded.args[0], torch.ones(2, 3))
        assert torch.equal(fx_graph_of.convert(loaded).inputs[0], torch.ones(2, 3))
    torch.save([torch.ones(2, 3)] * 2, tmp_path / "inputs.pt")
    assert (
        "has 2 values, and the program takes 1" in exported.read(str(path), 0, str(tmp_path / "inputs.pt")).only_traced
    )


class Converts(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x + 1).to(torch.uint8).sum()


def test_a_statement_of_dtypes_is_no_call(tmp_path: Path) -> None:
    """It raises where the program runs in float64."""
    exported_program = torch.export.export(Converts(), (torch.rand(3),)).run_decompositions()
    assert "_assert_tensor_metadata" in str(exported_program.graph)
    torch.export.save(exported_program, tmp_path / "model.pt2")
    made = fx_graph_of.convert(exported.read(str(tmp_path / "model.pt2"), 0))
    assert "_assert_tensor_metadata" not in str(made.script.graph)
