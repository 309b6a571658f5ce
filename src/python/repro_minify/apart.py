"""Runs a piece of work on a user's model so that nothing of it stays in the user's process."""

from __future__ import annotations

import contextlib
import copy
import ctypes
import os
import pickle
import random
import resource
import select
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any, TypeVar, cast

import torch
from torch.autograd import forward_ad

from .errors import ReproMinifyError, first_line

T = TypeVar("T")
LONGEST = 600.0  # seconds; a child that is forked among threads may wait for a lock that no thread will release
PR_SET_PDEATHSIG = 1
libc = ctypes.CDLL(None)


class NeedsThisProcess(Exception):
    """No child can do it: none can be forked, or PyTorch refuses backward where the parent's has threads of its own."""


class Crashed(ReproMinifyError):
    """A signal has ended its process."""


def apart(work: Callable[[], T]) -> T:
    """Returns what work() returns, which has to be something that can be pickled.

    It is run in a forked child, which may crash. Where CUDA is in use no child can touch it: there it is run in a
    thread, which has no part in the caller's grad and inference mode, functorch levels, autocast and other modes, and
    random generators are put back. Raises ReproMinifyError with the reason where it raises, crashes or does not end.
    """
    if not torch.cuda.is_initialized():
        with contextlib.suppress(NeedsThisProcess):
            return in_child(work)
    return in_thread(work)


def answer_of(work: Callable[[], Any]) -> tuple[Any, ReproMinifyError | None]:
    try:
        return work(), None
    except ReproMinifyError as error:
        return None, error
    except Exception as error:
        return None, ReproMinifyError(first_line(error))


def in_child(work: Callable[[], T]) -> T:
    reading, writing = os.pipe()
    parent = os.getpid()
    try:
        with warnings.catch_warnings():
            # There are threads, of which it warns; the child starts none and takes none of their locks.
            warnings.simplefilter("ignore")
            pid = os.fork()
    except OSError as error:
        os.close(writing)
        os.close(reading)
        raise NeedsThisProcess from error
    if pid == 0:
        become_child(work, parent, writing)
    os.close(writing)
    try:
        told = read_all(reading, LONGEST)
    finally:
        os.close(reading)
        status = end(pid)
    if told is None:
        raise ReproMinifyError(f"it does not end within {LONGEST:.0f} s")
    return cast(T, value_told(told, status))


def end(pid: int) -> int:
    """Its wait status. What has ended already is not changed by the signal."""
    try:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)  # what it has started, too; it may not lead its group yet
        os.kill(pid, signal.SIGKILL)
        return os.waitpid(pid, 0)[1]
    except (ProcessLookupError, ChildProcessError):  # the user's program ignores SIGCHLD
        return 0


def value_told(told: bytes, status: int) -> Any:
    try:
        value, error = pickle.loads(told)
    except (EOFError, pickle.UnpicklingError):
        if os.WIFSIGNALED(status):
            raise Crashed(f"its process ended with signal {os.WTERMSIG(status)}") from None
        raise ReproMinifyError(f"its process ended with exit code {os.WEXITSTATUS(status)}") from None
    if error is None:
        return value
    if "fork-based multiprocessing" in str(error):
        raise NeedsThisProcess
    raise error


def become_child(work: Callable[[], Any], parent: int, writing: int) -> None:
    """Silent, as the user's model has spoken or will speak in the process itself; leaves no exit handler a turn."""
    try:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() == parent:
            os.setpgid(0, 0)  # Ctrl-C is the parent's
            nothing = os.open(os.devnull, os.O_RDWR)
            for descriptor in range(3):
                os.dup2(nothing, descriptor)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            torch.set_num_threads(1)  # the pool's threads are not here
            with os.fdopen(writing, "wb") as pipe:
                pipe.write(pickle.dumps(answer_of(work)))
    finally:
        os._exit(0)


def read_all(descriptor: int, seconds: float) -> bytes | None:
    """None where the other side still writes when the time is over."""
    poll, told, end_of_time = select.poll(), b"", time.monotonic() + seconds
    poll.register(descriptor, select.POLLIN)
    while poll.poll(max(0.0, end_of_time - time.monotonic()) * 1000):
        piece = os.read(descriptor, 1 << 16)
        if not piece:
            return told
        told += piece
    return None


@contextlib.contextmanager
def generators_kept() -> Iterator[None]:
    """Python's, numpy's and torch's random generators, and levels of forward-mode differentiation, are put back."""
    numpy = sys.modules.get("numpy")
    state, numpy_state = random.getstate(), numpy.random.get_state() if numpy else None
    level = forward_ad._current_level
    # To ask a device that the program has not used for its generator's state would begin to use it.
    in_use = torch.cuda.is_initialized()
    devices = range(torch.cuda.device_count()) if in_use else ()
    waiting = None if in_use else copy.copy(torch.cuda._lazy_seed_tracker)
    with torch.random.fork_rng(devices=devices):
        try:
            yield
        finally:
            if waiting and not torch.cuda.is_initialized():
                torch.cuda._lazy_seed_tracker.__dict__.update(waiting.__dict__)
            while forward_ad._current_level > level:
                forward_ad.exit_dual_level()
            random.setstate(state)
            if numpy:
                numpy.random.set_state(numpy_state)


def in_thread(work: Callable[[], T]) -> T:
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()  # what a stream of the caller's still computes
    grad, device = torch.is_grad_enabled(), torch.get_default_device()
    told: list[tuple[Any, ReproMinifyError | None]] = []

    def run() -> None:
        torch.set_default_device(None if device.type == "cpu" else device)  # it is the thread's own
        with torch.set_grad_enabled(grad), generators_kept():
            told.append(answer_of(work))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        thread.join()
    except BaseException:  # the thread goes on, and what it has torch.compile do is the process's
        torch.compiler.set_stance("default")
        raise
    value, error = told[0] if told else (None, ReproMinifyError("it ends its thread"))
    if error:
        raise error
    return cast(T, value)
