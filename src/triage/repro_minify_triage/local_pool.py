"""Jobs as processes on this machine, some at a time."""

from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path

from .jobs import ENDING, Job, Result, clear, end_running, read_result, run_job, write_job


class LocalPool:
    def __init__(self, program: str, work: Path, jobs: int) -> None:
        self.program, self.work, self.jobs = program, work, jobs
        ENDING.clear()

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Result]]:
        """Takes no more jobs than it has hands for, so that who gives them can stop; the result's folder lives until
        the next is asked for."""
        waiting = iter(jobs)
        with ThreadPoolExecutor(self.jobs) as hands:
            running: dict[Future[Result], Job] = {}
            try:
                while True:
                    while len(running) < self.jobs and (job := next(waiting, None)) is not None:
                        running[hands.submit(self.run_one, job)] = job
                    if not running:
                        return
                    done, _ = wait(running, return_when=FIRST_COMPLETED)
                    for each in done:
                        job = running.pop(each)
                        yield job, each.result()
                        clear(self.work / job.name)
            except BaseException:  # interrupted, here or where the results go
                ENDING.set()
                end_running()
                raise

    def run_one(self, job: Job) -> Result:
        folder = self.work / job.name
        clear(folder)
        write_job(job, folder / "in")
        run_job(folder / "in", folder / "out", self.program)
        return read_result(folder / "out")

    def close(self) -> None:
        end_running()
