"""Operators that the user's own Python registers: the module that does it is found, and imported by the program."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import repro_minify
import torch
from repro_minify.errors import CannotTrace
from repro_minify.graphs import graphs_of
from repro_minify.registered import importable, line_that_does_more, modules_for, operators_of

OPERATORS = """\
import torch

library = torch.library.Library("registered_tests", "DEF")
library.define("halved(Tensor x) -> Tensor")


@torch.library.impl(library, "halved", "CompositeExplicitAutograd")
def halved(x):
    return x / 2


@torch.library.register_fake("registered_tests::halved")
def _(x):
    return torch.empty_like(x)


@torch.library.custom_op("registered_tests::fourfold", mutates_args=())
def fourfold(x: torch.Tensor) -> torch.Tensor:
    return x * 4


@fourfold.register_fake
def _(x):
    return torch.empty_like(x)
"""


@pytest.fixture(scope="module")
def ops(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """A module of the user's own, in a folder that only this process looks in."""
    folder = tmp_path_factory.mktemp("users")
    (folder / "users_ops.py").write_text(OPERATORS)
    sys.path.insert(0, str(folder))
    yield importlib.import_module("users_ops")
    sys.path.remove(str(folder))


@pytest.mark.parametrize("name", ["halved", "fourfold"])
def test_the_file_that_registers_an_operator_comes_along(ops: ModuleType, name: str, work: Path) -> None:
    operator = getattr(torch.ops.registered_tests, name)
    (graph,) = graphs_of(lambda x: operator(x).sin(), (torch.rand(3),), {}, False)
    assert operators_of(graph.module) == {f"registered_tests::{name}"}
    assert modules_for(graph.module, work) == [str(work / "users_ops.py")]
    assert (work / "users_ops.py").read_text() == OPERATORS


def test_a_script_may_define_and_no_more(ops: Any, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = work / "script.py"
    script.write_text(OPERATORS + 'library.impl("halved", halved, "CPU")\nif __name__ == "__main__":\n    halved(1)\n')
    monkeypatch.setattr(ops, "__file__", str(script))
    monkeypatch.setattr(ops, "__name__", "__main__")
    (work / "copy").mkdir()
    assert importable("registered_tests::halved", work / "copy") == str(work / "copy" / "script.py")
    for more in ("result = minify(f)", "print(1)", "for x in range(3):\n    pass", "library.impl(minify(f))"):
        script.write_text(OPERATORS + more + "\n")
        assert line_that_does_more(script) == OPERATORS.count("\n") + 1, more
        with pytest.raises(CannotTrace, match="in the script itself, whose line .. does more than define"):
            importable("registered_tests::halved", work / "copy")


def test_an_operator_of_no_file_is_refused(work: Path) -> None:
    library = torch.library.Library("registered_nowhere", "DEF")
    library.define("lost(Tensor x) -> Tensor")
    with pytest.raises(CannotTrace, match="it calls registered_nowhere::lost, .* no module is known"):
        importable("registered_nowhere::lost", work)


def test_what_is_imported_is_an_option(fake_program: Path, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from repro_minify.minifying import with_found
    from repro_minify.options import arguments_of

    assert arguments_of({"imports": ["a.b", "c.py"]}) == ["--import=a.b", "--import=c.py"]
    assert with_found("own/ops.py", ("found/ops.py", "pkg.more")) == ["own/ops.py", "pkg.more"]


@pytest.mark.skipif("'REPRO_MINIFY_ALL_TESTS' not in os.environ", reason="scripts/test.sh --all runs it")
def test_an_operator_is_reduced_with_its_module(ops: Any, work: Path) -> None:
    def wrong(x: torch.Tensor) -> torch.Tensor:
        y = torch.ops.registered_tests.fourfold(x + 1) * torch.ones(()).cumsum(0)
        return torch.ops.registered_tests.halved(y)

    result = repro_minify.minify(wrong, torch.rand(3), skip_pass=["cut"], ablation=False, no_bisect=True, quiet=True)
    text = (result.folder / "repro.py").read_text()
    assert result.verified and "import users_ops  # it registers operators" in text
    assert "torch.ops.registered_tests.halved(" in text and (result.folder / "users_ops.py").read_text() == OPERATORS
