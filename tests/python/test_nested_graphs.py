"""Tests of what torch.compile leaves behind of a model with branches and loops: a repro.py with nested graphs."""

from pathlib import Path

import pytest
import repro_minify

NESTED = Path(__file__).resolve().parents[2] / "fixtures" / "doors" / "nested" / "repro.py"


@pytest.mark.skipif("'REPRO_MINIFY_ALL_TESTS' not in os.environ", reason="scripts/test.sh --all runs it")
def test_the_branch_and_the_turns_that_ran_are_kept() -> None:
    verdict = repro_minify.check(NESTED, backend="jit")
    assert verdict.outcome == "pass"
    notes = verdict.details["converted"]
    assert "the branch that its inputs take (false) is kept" in notes and "of torch.while_loop, the 3 turns" in notes


@pytest.mark.skipif("'REPRO_MINIFY_ALL_TESTS' not in os.environ", reason="scripts/test.sh --all runs it")
def test_graphs_that_were_left_out_are_named(work: Path) -> None:
    """PyTorch before 2.15 writes `<lambda>()` in the place of a nested graph."""
    text = NESTED.read_text().replace("self.true_graph_0 = true_graph_0()", "self.true_graph_0 = <lambda>()")
    (work / "repro.py").write_text(text)
    with pytest.raises(repro_minify.BadInput, match="lacks its nested graphs"):
        repro_minify.check(work / "repro.py", backend="jit")
