"""Tests of what a bug is known by, and of what is only how a night was run."""

from dataclasses import replace
from pathlib import Path

from repro_minify_triage.jobs import check_job, command_of
from repro_minify_triage.variants import Variant


def test_the_interpreter_is_the_builds_and_not_the_variants() -> None:
    job = replace(check_job("1", "m.pt", [Variant("jit", ("--grad",))], 60), python="/a/python")
    command = command_of(job, Path("/f"), "repro-minify", Path("/o"))
    assert command[-2:] == ["--python", "/a/python"]
    assert str(Variant(job.backends[0], job.options)) == "jit --grad"
