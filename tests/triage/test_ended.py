"""A run that is killed or interrupted takes along the programs that it had started."""

import os
import select
import shutil
import signal
import subprocess
import time

import pytest
from conftest import Site

PROGRAMS = 2


@pytest.mark.skipif(not shutil.which("setpriv"), reason="needs util-linux")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_the_programs_end_with_the_run(site: Site, how: signal.Signals) -> None:
    for index in range(PROGRAMS):
        site.add_model(f"m{index}")
    site.options = ["--jobs", str(PROGRAMS)]
    site.world(seconds=3600, told=True)  # nothing but its end ends one
    started = site.folder / "world.started"
    with subprocess.Popen(
        site.command(*site.night_words()),
        env=site.environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # whatever started the tests may ignore it
    ) as run:
        while not started.exists() or started.read_text().count("\n") < PROGRAMS:
            assert run.poll() is None
            time.sleep(0.05)
        watched = [os.pidfd_open(int(line)) for line in started.read_text().split()]
        run.send_signal(how)
        _, said = run.communicate()
    for descriptor in watched:
        assert select.select([descriptor], [], [], 300)[0], "a program goes on without its run"
        os.close(descriptor)
    assert run.returncode == (130 if how is signal.SIGINT else -how)
    assert ("the same command goes on" in said) == (how is signal.SIGINT)


def test_a_night_goes_on_where_the_reader_of_its_lines_has_gone(site: Site) -> None:
    site.add_model("m")
    site.world()
    read, write = os.pipe()
    os.close(read)
    ended = subprocess.run(site.command(*site.night_words()), env=site.environment(), stdout=write, check=False)
    os.close(write)
    assert ended.returncode == 0
    assert site.report()["nights"][-1]["ended"]


def test_a_full_disk_is_no_mistake_of_the_caller(site: Site) -> None:
    site.add_model("m", jit="fail")
    site.world()
    site.night(code=1)
    with open("/dev/full", "w") as full:
        said = subprocess.run(
            site.command("list", "--store", str(site.store)),
            env=site.environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert said.returncode == 70
    assert "the same command goes on" not in said.stderr
