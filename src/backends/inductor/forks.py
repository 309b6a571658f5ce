"""Processes that are forks of this one."""

import contextlib
import ctypes
import os
import signal

PR_SET_PDEATHSIG = 1


def die_with(parent):
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def in_a_fork(work):
    """Calls `work` in a fork that ends with this process; returns its process id. Exceptions of `work` are ignored."""
    parent, pid = os.getpid(), os.fork()
    if pid == 0:
        with contextlib.suppress(BaseException):
            die_with(parent)
            work()
        os._exit(0)
    return pid


class Later:
    """A fork that waits until this process, or one of its forks, says that it is time."""

    def __init__(self, work):
        read, self.told = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        os.set_blocking(read, True)

        def wait_and_work():
            os.close(self.told)
            if os.read(read, 1):
                work()

        in_a_fork(wait_and_work)
        os.close(read)

    def begin(self):
        with contextlib.suppress(OSError):  # it has long begun, and ended
            os.write(self.told, b"1")
