"""Tests of what a bug is known by, and of what is only how a night was run."""

from dataclasses import replace
from pathlib import Path

import pytest
from repro_minify_triage.jobs import check_job, command_of
from repro_minify_triage.variants import Variant, parse_variant


def test_the_interpreter_is_the_builds_and_not_the_variants() -> None:
    job = replace(check_job("1", "m.pt", [Variant("jit", ("--grad",))], 60), python="/a/python")
    command = command_of(job, Path("/f"), "repro-minify", Path("/o"))
    assert command[-2:] == ["--python", "/a/python"]
    assert str(Variant(job.backends[0], job.options)) == "jit --grad"


@pytest.mark.parametrize("backend", ["jit", "command:./be.sh", "command:python 'a b.py'", "plugin:p q.so"])
def test_one_with_options_is_read_back(backend: str) -> None:
    for options in ((), ("--repeat=2", "--grad")):
        assert parse_variant(str(Variant(backend, options))) == Variant(backend, options)
