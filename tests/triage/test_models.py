"""Tests of what counts as a model, and of what is known of it before it is loaded."""

from pathlib import Path
from typing import Any

import pytest

from repro_minify_triage.answers import answers_of_check
from repro_minify_triage.jobs import Result, check_job, write_job
from repro_minify_triage.models import find_models, inputs_beside
from repro_minify_triage.variants import Variant


def test_a_file_that_cannot_be_read_stops_no_night(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("good.pt", "secret.pt", "other.pt"):
        (tmp_path / name).write_text("the same")
    usual = Path.open

    def refusing(path: Path, *rest: Any, **named: Any) -> Any:
        if path.name in ("secret.pt", "other.pt"):
            raise PermissionError(13, "Permission denied", str(path))
        return usual(path, *rest, **named)

    monkeypatch.setattr(Path, "open", refusing)
    digests = {model.path.name: model.digest for model in find_models([str(tmp_path)])}
    assert set(digests) == {"good.pt", "secret.pt", "other.pt"}
    assert len(set(digests.values())) == 3  # two that cannot be read are not one model


def test_a_file_that_went_away_is_not_among_the_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here.pt").write_text("a")
    (tmp_path / "gone.pt").write_text("b")
    usual = Path.open

    def vanishing(path: Path, *rest: Any, **named: Any) -> Any:
        if path.name == "gone.pt":
            raise FileNotFoundError(2, "No such file or directory", str(path))
        return usual(path, *rest, **named)

    monkeypatch.setattr(Path, "open", vanishing)
    assert [model.path.name for model in find_models([str(tmp_path)])] == ["here.pt"]


def test_the_inputs_beside_a_link_are_its_own(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "a.pt").write_text("archive")
    (tmp_path / "kept" / "inputs.pt").write_text("of the file")
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "link.pt").symlink_to(tmp_path / "kept" / "a.pt")
    (tmp_path / "two" / "inputs.pt").write_text("of the link")
    (tmp_path / "kept" / "again.pt").symlink_to("a.pt")
    models = find_models([str(tmp_path)])
    assert len({model.digest for model in models}) == 3
    assert sorted(str(model.path.relative_to(tmp_path)) for model in models) == [
        "kept/a.pt",
        "one/link.pt",
        "two/link.pt",
    ]  # what "again.pt" leads to, with the inputs beside it, is there already
    for model in models:
        beside = inputs_beside(model.path)
        assert (beside.read_text() if beside else None) == {"kept": "of the file", "one": None, "two": "of the link"}[
            model.path.parent.name
        ]


LEFT_BEHIND = "from torch._dynamo.repro.after_aot import run_repro\nrun_repro(mod, load_args, save_dir='checkpoints')\n"


def test_what_torch_compile_left_behind_is_told_by_what_it_says(tmp_path: Path) -> None:
    for name, text in {
        "repro.py": LEFT_BEHIND,
        "minifier_launcher.py": LEFT_BEHIND + "#\n",
        "setup.py": "print('no model')\n",
        "checkpoints/31.py": LEFT_BEHIND + "# a step of PyTorch's minifier\n",
        "trace.log": "x" * (2 << 20) + '"fx_graph_runnable"',
        "build.log": "made\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    names = {"repro.py", "minifier_launcher.py", "trace.log"}
    assert {model.path.name for model in find_models([str(tmp_path)])} == names
    assert {model.path.name for model in find_models([str(tmp_path / "*")])} == names
    assert {model.path.name for model in find_models([str(tmp_path / "checkpoints" / "31.py")])} == {"31.py"}


def test_the_data_of_a_program_is_part_of_it_and_goes_where_it_goes(tmp_path: Path) -> None:
    (tmp_path / "a" / "checkpoints" / "storages").mkdir(parents=True)
    (tmp_path / "a" / "repro.py").write_text(LEFT_BEHIND)
    data = tmp_path / "a" / "checkpoints" / "storages" / "0123"
    data.write_bytes(b"one")
    (tmp_path / "secret").write_text("nobody's")
    data.with_name("4567").symlink_to(tmp_path / "secret")
    (model,) = find_models([str(tmp_path / "a")])
    write_job(check_job("1-check", model.name, [Variant("inductor", ())], 10), tmp_path / "job")
    assert (tmp_path / "job" / "checkpoints" / "storages" / "0123").read_bytes() == b"one"
    assert not (tmp_path / "job" / "checkpoints" / "storages" / "4567").exists()
    data.unlink()
    data.write_bytes(b"two")
    assert find_models([str(tmp_path / "a")])[0].digest != model.digest


def row(outcome: str) -> dict[str, Any]:
    details = {"signatures": [], "wall_seconds": 1.0, "eager_failed": False, "no_answer": outcome == "none",
               "outputs": []}  # fmt: skip
    return {"backend": "inductor", "details": details, "rate": {"failed": outcome == "fail", "need": 1},
            "verdict": {"outcome": outcome, "kind": None, "message": outcome}}  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "outcome"),
    [(("pass", "fail", "pass"), "fail"), (("pass", "none", "pass"), "no answer"), (("none", "fail"), "fail"),
     (("pass", "pass"), "pass")],
)  # fmt: skip
def test_a_log_fails_where_one_of_its_graphs_does(rows: tuple[str, ...], outcome: str) -> None:
    job = check_job("1-check", "trace.log", [Variant("inductor", ())], 10)
    result = Result(1, [row(each) for each in rows])
    assert answers_of_check(job, result)["inductor"]["outcome"] == outcome
