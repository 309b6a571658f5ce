"""Which graphs lie in a log, and in a folder. No torch is needed for that."""

import os
from pathlib import Path

import trace_log

ROOT = Path(__file__).resolve().parents[2]
RECORD = 'V1123 01:03:48.174000 7858 torch/a.py:1] {"artifact": {"name": "%s"}, "frame_id": %d, "frame_compile_id": 0}'


def test_a_log_of_pytorchs_own() -> None:
    graphs = trace_log.graphs(ROOT / "fixtures" / "doors" / "logged" / "trace.log")
    assert [graph.name for graph in graphs] == ["0/0", "1/0", "2/0", "3/0", "4/0"]
    assert all("run_repro(mod, load_args" in graph.text for graph in graphs)
    assert "relu" in graphs[2].text and "\t" not in graphs[2].text


def test_what_is_not_of_a_graph_is_passed_over(tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    wanted = [RECORD % ("fx_graph_runnable", 3), "\tone", "\t\ttwo"]
    lines = [RECORD % ("other", 0), "\tfx_graph_runnable", *wanted, "noise"]
    log.write_text("\n".join([*lines, "\tlost", "V1123 1:0.0 7 a] {broken fx_graph_runnable"]) + "\n")
    (graph,) = trace_log.graphs(log)
    assert (graph.name, graph.text) == ("3/0", "one\n\ttwo\n")


def test_a_record_that_python_cannot_read_is_passed_over(tmp_path: Path) -> None:
    record = RECORD % ("fx_graph_runnable", 3)
    deep, large = (record.replace(": 3,", f": {value},") for value in ("[" * 100000, "9" * 5000))
    log = tmp_path / "x.log"
    log.write_text("\n".join([deep, "\tone", large, "\ttwo", record, "\tthree"]) + "\n")
    assert [graph.text for graph in trace_log.graphs(log)] == ["three\n"]


def test_what_is_no_file_is_passed_over(tmp_path: Path) -> None:
    """A pipe would keep the reader waiting."""
    os.mkfifo(tmp_path / "raw.log")
    os.mkfifo(tmp_path / "fx_graph_runnable_1.txt")
    assert trace_log.graphs(tmp_path) == []


def test_a_log_that_ends_in_a_graph_has_it(tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    log.write_text(RECORD % ("fx_graph_runnable", 1) + "\n\tall of it")
    assert trace_log.graphs(log)[0].text == "all of it"


def test_a_graph_has_the_annotated_one_that_follows_it(tmp_path: Path) -> None:
    """Forward and backward have the same name."""
    kinds = ("fx_graph_runnable", "before_post_grad_graph") * 2
    lines = [line for i, kind in enumerate(kinds) for line in (RECORD % (kind, 0), f"\t{i}")]
    (tmp_path / "x.log").write_text("\n".join([*lines, RECORD % ("before_post_grad_graph", 1), "\tother"]))
    (tmp_path / "-_0_0_0").mkdir()
    for i, kind in enumerate(kinds):
        (tmp_path / "-_0_0_0" / f"{kind}_{i + 8}.txt").write_text(f"{i}\n")
    for path in (tmp_path / "x.log", tmp_path):
        assert [(graph.text, graph.annotated) for graph in trace_log.graphs(path)] == [("0\n", "1\n"), ("2\n", "3\n")]


def test_folders_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for name in ("-_10_0_0", "-_9_0_0", "-_9_1_0"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "fx_graph_runnable_5.txt").write_text(name)
    assert [graph.name for graph in trace_log.graphs(tmp_path)] == ["9/0", "9/1", "10/0"]


def test_a_folder_of_logs_has_all_their_graphs(tmp_path: Path) -> None:
    for name in ("dedicated_log_torch_trace_a.log", "dedicated_log_torch_trace_b.log"):
        (tmp_path / name).write_text(RECORD % ("fx_graph_runnable", 0) + "\n\t" + name + "\n")
    assert [graph.text[-6:-1] for graph in trace_log.graphs(tmp_path)] == ["a.log", "b.log"]
