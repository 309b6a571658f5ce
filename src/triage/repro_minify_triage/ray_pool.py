"""The same jobs on a Ray cluster. Folders travel as archives through Ray, so no disk is shared; the driver alone writes
to the store. A node that is lost costs its jobs one retry, then they have no answer."""

import io
import os
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import repro_minify_triage

from .errors import TriageError
from .jobs import Job, Result, clear, read_result, run_job, write_job

RETRIES = 1
WAITING_PER_CPU = 2  # jobs given to the cluster ahead of time: enough to keep it busy, few to lose with the driver
GIB = 2**30

try:
    import ray
except ImportError as error:
    raise TriageError("--on: Ray is not installed; pip install 'ray>=2.50'") from error


def packed(folder: Path) -> bytes:
    """Links to files are followed: what they lead to is not on the other machine."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as archive:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                archive.write(file, file.relative_to(folder))
    return buffer.getvalue()


def unpack(archive: bytes, folder: Path) -> None:
    """Makes files and folders alone, none of them outside the folder: zipfile sees to that."""
    folder.mkdir(parents=True, exist_ok=True)
    zipfile.ZipFile(io.BytesIO(archive)).extractall(folder)


def run_packed(archive: bytes, program: str) -> bytes:
    with tempfile.TemporaryDirectory(prefix="triage-") as work:
        unpack(archive, Path(work) / "in")
        run_job(Path(work) / "in", Path(work) / "out", program)
        return packed(Path(work) / "out")


class RayPool:
    def __init__(self, program: str, work: Path, address: str) -> None:
        """`address`: of a cluster; empty: $RAY_ADDRESS, else one on this machine that listens on the loopback alone."""
        self.program, self.work = program, work
        ray.cloudpickle.register_pickle_by_value(repro_minify_triage)  # the nodes need Ray and the program, no more
        known: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
        if not (address := address or os.environ.get("RAY_ADDRESS", "")):
            known |= {"include_dashboard": False, "_node_ip_address": "127.0.0.1"}
        try:
            ray.init(address=address or None, **known)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise TriageError(f"--on {address}: no Ray cluster answers there ({error})") from error
        self.task = ray.remote(run_packed)

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Result]]:
        waiting = iter(jobs)
        running: dict[Any, Job] = {}
        while True:
            limit = WAITING_PER_CPU * max(1, int(ray.cluster_resources().get("CPU", 1)))
            while len(running) < limit and (job := next(waiting, None)) is not None:
                running[self.submit(job)] = job
            if not running:
                return
            done, _ = ray.wait(list(running), num_returns=1)
            for each in done:
                job = running.pop(each)
                yield job, self.result_of(job, each)
                clear(self.work / job.name)

    def submit(self, job: Job) -> Any:
        folder = self.work / job.name
        clear(folder)
        write_job(job, folder / "in")
        resources = {"num_cpus": 1, "memory": int(job.memory_gib * GIB)}
        try:
            archive = packed(folder / "in")
        except OSError as error:
            return ray.put(f"{job.model}: cannot be read ({error.strerror})")
        return self.task.options(max_retries=RETRIES, **resources).remote(archive, self.program)

    def result_of(self, job: Job, reference: Any) -> Result:
        try:
            found = ray.get(reference)
        except ray.exceptions.RayError as error:
            return Result(lost=f"the node was lost, {RETRIES + 1} times: {type(error).__name__}")
        if isinstance(found, str):
            return Result(lost=found)
        try:
            unpack(found, self.work / job.name / "out")
        except (OSError, zipfile.BadZipFile) as error:
            raise TriageError(f"{self.work}: a result cannot be written ({error}); make room and run again") from error
        return read_result(self.work / job.name / "out")

    def close(self) -> None:
        ray.shutdown()
