"""Which form a model is converted to: its calls where they can be kept, else what a trace makes of them."""

import argparse
import functools
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
import convert  # noqa: E402
import exported  # noqa: E402
from refused import Refused  # noqa: E402

DOORS = Path(__file__).resolve().parents[2] / "fixtures" / "doors"


def asked_for(keeps_calls: bool) -> argparse.Namespace:
    return argparse.Namespace(calls=keeps_calls, weights_inside=False)


def answer(name: str, folder: Path, keeps_calls: bool) -> dict[str, Any]:
    read = functools.partial(exported.read, str(DOORS / "exported" / f"{name}.pt2"), 0)
    found: dict[str, Any] = convert.answer_for(read, folder, 1, asked_for(keeps_calls))
    return found


def test_calls_are_kept_where_they_are_asked_for(tmp_path: Path) -> None:
    kept, traced = (answer("mirror", tmp_path, keeps_calls) for keeps_calls in (True, False))
    assert kept["dialect"] == "fx" and "dialect" not in traced
    assert kept["notes"] == traced["notes"] == []


def test_what_cannot_be_kept_is_traced_and_that_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(*_: Any) -> Any:
        raise Refused("has a call without a form")

    monkeypatch.setattr("fx_graph_of.convert", refuses)
    found = answer("branch", tmp_path, True)
    assert "dialect" not in found and (tmp_path / "converted-1.pt").is_file()
    assert found["notes"] == [
        "it is traced to TorchScript, as its calls are not kept: has a call without a form",
        "of torch.cond, the branch that its inputs take (true) is kept",
    ]


def test_where_neither_can_be_both_reasons_are_said(tmp_path: Path) -> None:
    def read() -> Any:
        loaded = exported.read(str(DOORS / "exported" / "linear.pt2"), 0)
        loaded.args = ()
        return loaded

    problem = convert.answer_for(read, tmp_path, 1, asked_for(True))["problem"]
    assert problem.startswith("is given no value for x; and traced to TorchScript, it cannot be traced: ")


def test_an_expanded_input_has_each_element_written_once() -> None:
    """Other numbers are tried with it, which cannot be written to two elements that are one."""
    from agreement import held_once, others_of, put_back

    expanded = torch.arange(3.0).reshape(1, 3).expand(4, 3)
    (other,) = others_of((expanded,))
    assert other.stride() == (0, 1) and torch.equal(other[0], other[3]) and not torch.equal(other, expanded)
    assert held_once(expanded).shape == (1, 3)
    put_back(other, expanded)
    assert torch.equal(other, expanded)
