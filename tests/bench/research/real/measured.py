"""Runs a command under a time limit, and measures the memory of all its processes together."""

import os
import signal
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

INTERVAL = 0.1


@dataclass
class Done:
    code: int
    output: str
    error: str
    seconds: float
    peak_mb: float
    timed_out: bool


def proportional_kb(pid):
    """Returns the memory of a process in kB; pages that it shares are counted in parts."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1])
    return 0


def processes_of(group):
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if os.getsid(int(entry.name)) == group:
                    yield int(entry.name)
            except OSError:
                pass  # it has ended


class Watch(threading.Thread):
    def __init__(self, group):
        super().__init__(daemon=True)
        self.group = group
        self.peak_kb = 0
        self.over = threading.Event()

    def run(self):
        while not self.over.wait(INTERVAL):
            total = 0
            for pid in processes_of(self.group):
                try:
                    total += proportional_kb(pid)
                except OSError:
                    pass
            self.peak_kb = max(self.peak_kb, total)


def run(command, timeout):
    """In a session of its own, so that whatever it started is ended with it."""
    begin = time.monotonic()
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as error:
        process = subprocess.Popen([str(part) for part in command], stdout=output, stderr=error, start_new_session=True)
        watch = Watch(process.pid)
        watch.start()
        timed_out = False
        try:
            process.wait(timeout)
        except subprocess.TimeoutExpired:
            timed_out = True
        seconds = time.monotonic() - begin
        watch.over.set()
        for pid in [*processes_of(process.pid)]:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        process.wait()
        watch.join()
        output.seek(0)
        error.seek(0)
        return Done(process.returncode, output.read(), error.read(), round(seconds, 2), round(watch.peak_kb / 1024),
            timed_out)
