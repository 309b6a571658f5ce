"""Operators of a package that is not here: what a file says that they gave is an input."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("torch")
import compile_program  # noqa: E402
import exported  # noqa: E402
import torch  # noqa: E402
from refused import Refused  # noqa: E402

PROGRAM = """
import torch
from torch.nn import *
class Repro(torch.nn.Module):
    def forward(self, arg0_1, arg1_1):
        relu = torch.ops.aten.relu.default(arg1_1);  arg1_1 = None
        attend = torch.ops.engine_absent.attend.default(relu, 0.5);  relu = None
        two = torch.ops.higher_order.auto_functionalized_v2(torch.ops.engine_absent.two.default, q = attend)
        getitem = two[0]
        getitem_1 = two[1];  two = None
        mul = torch.ops.aten.mul.Tensor(attend, 2);  attend = None
        return (mul, getitem_1)

def load_args(reader):
    {size}
    buf0 = reader.storage(None, 128)
    reader.tensor(buf0, ({rows}, 8), is_leaf=True)  # arg1_1
load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_aot import run_repro
    with torch.no_grad():
        run_repro(mod, load_args, accuracy=False, command='run', save_dir=None, tracing_mode='real', check_str=None)
"""
SYMBOLIC = """class <lambda>(torch.nn.Module):
    def forward(self, arg0_1: "Sym(s77)", arg1_1: "f32[s77, 8][8, 1]cpu"):
        attend: "f16[2*s77, 8][1, 2*s77]cpu" = torch.ops.engine_absent.attend.default(relu, 0.5);  relu = None
        getitem: "f32[4, 8][8, 1]cpu" = two[0]
        getitem_1: "i64[4][1]cpu" = two[1]
"""


def program(size: str = "reader.symint(4)") -> str:
    return PROGRAM.replace("{size}", size).replace("{rows}", "4")


def test_results_that_a_log_describes_are_arguments_after_the_others() -> None:
    loaded = compile_program.read(program(), "x.py", 0, SYMBOLIC)
    assert loaded.names == ["arg0_1", "arg1_1", "attend", "getitem_1"]  # what nothing reads is none
    attend, indices = loaded.args[2:]
    assert (attend.dtype, attend.shape, attend.stride()) == (torch.float16, (8, 8), (1, 8))
    assert (indices.dtype, indices.shape) == (torch.int64, (4,))
    mul, given = loaded.module(*loaded.args)
    assert torch.equal(mul, attend * 2) and given is indices
    assert "engine_absent::attend is not here: what it gave is the input attend, float16[8, 8]" in loaded.notes


@pytest.mark.parametrize("annotated", ["", SYMBOLIC.replace("attend:", "other:"), SYMBOLIC.replace("2*s77", "s1//2")])
def test_results_that_are_not_described_are_refused(annotated: str) -> None:
    with pytest.raises(Refused, match="calls engine_absent::attend, .*does not say what that gave.*--import MODULE"):
        compile_program.read(program(), "x.py", 0, annotated)


def test_what_such_an_operator_writes_to_is_not_described() -> None:
    text = program().replace("attend = torch", "torch").replace("(attend, 2);  attend = None", "(relu, 2)")
    with pytest.raises(Refused, match="calls engine_absent::attend, .*does not say"):
        compile_program.read(text.replace("q = attend", "q = relu"), "x.py", 0, SYMBOLIC)


class Attends(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        first, second = torch.ops.engine_gone.two(torch.relu(x), [1, 2], scale=0.5)
        return torch.ops.engine_gone.attend(first) * 2, second + torch.tensor(1)


@contextlib.contextmanager
def an_engine(writes: bool) -> Iterator[None]:
    library = torch.library.Library("engine_gone", "DEF")
    library.define("two(Tensor q, int[] sizes, *, float scale, str? mode=None) -> (Tensor, Tensor)")
    library.define(f"attend(Tensor{'(a!)' * writes} q) -> Tensor")
    library.impl("two", lambda q, sizes, scale, mode=None: (q + 1, q.argmax(-1)), "CompositeExplicitAutograd")
    library.impl("attend", lambda q: q * 3, "CompositeExplicitAutograd")
    torch.library.register_fake(
        "engine_gone::two", lambda q, sizes, scale, mode=None: (q.clone(), q.argmax(-1)), lib=library
    )
    torch.library.register_fake("engine_gone::attend", lambda q: q.new_empty(q.shape[::-1]), lib=library)
    try:
        yield
    finally:
        library._destroy()


def saved(folder: Path, decomposed: bool = False, writes: bool = False) -> str:
    with an_engine(writes):
        exported_program = torch.export.export(Attends(), (torch.randn(4, 8),))
        if decomposed:
            exported_program = exported_program.run_decompositions()
        torch.export.save(exported_program, folder / "model.pt2")
    return str(folder / "model.pt2")


@pytest.mark.parametrize("decomposed", [False, True])
@pytest.mark.parametrize("writes", [False, True])
def test_results_in_an_exported_program_are_arguments_after_the_others(
    tmp_path: Path, decomposed: bool, writes: bool
) -> None:
    """Results that only such operators read are no arguments."""
    loaded = exported.read(saved(tmp_path, decomposed, writes), 0)
    assert len(loaded.names) == 3 and loaded.names[0] == "x", loaded.names
    indices, attended = loaded.args[1:]
    assert (attended.shape, attended.dtype) == ((8, 4), torch.float32)
    assert (indices.shape, indices.dtype) == ((4,), torch.int64)
    found = loaded.module(*loaded.args)
    assert torch.equal(found[0], attended * 2) and torch.equal(found[1], indices + 1)
    assert any(note.startswith("engine_gone::attend is not here: ") for note in loaded.notes)
