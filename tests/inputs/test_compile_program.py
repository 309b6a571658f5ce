"""Programs that torch.compile leaves behind: what is read of them, and the calls that are kept."""

from pathlib import Path

import pytest

pytest.importorskip("torch")
import compile_program  # noqa: E402
import fx_graph_of  # noqa: E402
from loaded import Loaded  # noqa: E402
from refused import Refused  # noqa: E402
from traced import argument_names  # noqa: E402

DOORS = Path(__file__).resolve().parents[2] / "fixtures" / "doors"

PROGRAM = """
import torch
from torch._dynamo.repro.after_{after} import run_repro
{before}

class Repro(torch.nn.Module):
    def forward(self, x):
        {body}

def load_args(reader):
    reader.tensor(reader.storage(None, 16), (4,), is_leaf=True)

run_repro(Repro(), load_args)
"""


def read(body: str, after: str = "dynamo", before: str = "") -> Loaded:
    return compile_program.read(PROGRAM.format(after=after, body=body, before=before), "p.py", 0)


def kept(body: str, after: str = "dynamo", before: str = "") -> str:
    return str(fx_graph_of.convert(read(body, after, before)).script.graph)


def test_calls_stay_as_they_are_written() -> None:
    calls = kept("x[1:] = x[:-1].clone(); torch._foreach_mul_([x], [x.flip(0)]); return (x,)")
    assert all(name in calls for name in ("setitem", "_foreach_mul_", "flip"))


def test_one_from_behind_aotautograd_says_so() -> None:
    body = "y = torch.ops.prims.convert_element_type.default(x, torch.float64); return (y,)"
    assert "torch.ops.prims.convert_element_type.default" in kept(body, "aot")
    assert [any("behind AOTAutograd" in note for note in read(body, after).notes) for after in ("aot", "dynamo")] == [
        True,
        False,
    ]


@pytest.mark.parametrize("path", sorted((DOORS / "compiled").glob("*/*.py")), ids=lambda path: path.parent.name)
def test_those_of_pytorchs_own(path: Path) -> None:
    assert fx_graph_of.convert(compile_program.read(path.read_text(), str(path), 0)).script


def test_an_operator_that_is_not_there_is_named() -> None:
    with pytest.raises(
        Refused, match=r"calls missing::scale, an operator that PyTorch does not have: .*--load-library"
    ):
        kept("return (torch.ops.missing.scale.default(x, 2),)  # torch.ops.comment.only(x)")
    own = (
        "LIBRARY = torch.library.Library('own_of_program', 'DEF'); LIBRARY.define('scale(Tensor x) -> Tensor')\n"
        "LIBRARY.impl('scale', lambda x: x * 2, 'CompositeExplicitAutograd')"
    )
    with pytest.raises(Refused, match="own_of_program::scale, an operator that is registered from Python; --import"):
        kept("return (torch.ops.own_of_program.scale.default(x),)", before=own)


def test_random_numbers_that_eager_does_not_draw_are_not_kept() -> None:
    body = "s = torch.ops.prims.inductor_seed.default(x.device); return (x * s,)"
    with pytest.raises(Refused, match="random numbers of TorchInductor's own generator"):
        kept(body, "aot")


def test_half_a_level_of_torch_func_is_refused() -> None:
    with pytest.raises(Refused, match="a level of torch.func is entered that has no form"):
        kept("torch._C._functorch._grad_increment_nesting(); return (x,)")


def test_names_of_dynamos_are_without_its_own_words() -> None:
    wanted = ["L_self_modules_stem_parameters_weight_", "L_x_", "L_x_", "G_", "plain_L"]
    assert argument_names(wanted, 6) == ["stem_weight", "x", "x_", "x__", "plain_L", "x5"]
