"""Where jobs run."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol

from .jobs import Job, Result
from .local_pool import LocalPool


class Pool(Protocol):
    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Result]]: ...
    def close(self) -> None: ...


def make_pool(on: str, program: str, work: Path, jobs: int) -> Pool:
    if on == "local":
        return LocalPool(program, work, jobs)
    from .ray_pool import RayPool

    pool: Pool = RayPool(program, work, "" if on == "ray" else on)
    return pool
