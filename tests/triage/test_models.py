"""What counts as a model, and what is known of it before anybody looks inside."""

from pathlib import Path
from typing import Any

import pytest

from repro_minify_triage.models import find_models, inputs_beside


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
    assert len(set(digests.values())) == 3  # two that nobody can read are not one model


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
