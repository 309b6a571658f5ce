"""The warm parent: imports torch once, then forks a child for every connection of repro-minify.

    worker.py LISTEN ALIVE REPORT FOLDER [KEY=VALUE ...]

LISTEN is a listening Unix socket, ALIVE the read end of a pipe that repro-minify holds open as long as it lives, REPORT
where one line of JSON says that all is ready, or what the problem is; all are inherited descriptors. FOLDER, private
and removed at the end, holds what TorchInductor generates. Each KEY=VALUE is an entry of torch._inductor.config.

A crash of a child is reported on its connection, and a child whose connection closes is killed with all it started.
"""

import gc
import json
import os
import select
import shutil
import signal
import socket
import sys

import forks

SECONDS_TO_CONNECT = 0.2  # who waits for the worker connects as soon as it is ready


class Worker:
    def __init__(self, listen, alive, serve):
        self.listener = socket.socket(fileno=listen)
        self.alive = alive
        self.serve = serve
        self.children = {}  # pid: its connection
        self.wake_read, wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)

    def serve_first(self, seconds):
        """One that comes within that time; its child has what there is until then."""
        ready, _, _ = select.select([self.listener, self.alive], [], [], seconds)
        if self.listener in ready:
            self.accept()

    def run(self):
        while True:
            poll = select.poll()
            poll.register(self.listener, select.POLLIN)
            poll.register(self.alive, 0)  # a closed write end is always told
            poll.register(self.wake_read, select.POLLIN)
            for connection in self.children.values():
                poll.register(connection, select.POLLRDHUP)
            ready = {descriptor for descriptor, _ in poll.poll()}
            if self.alive in ready:
                break
            if self.wake_read in ready:
                os.read(self.wake_read, 4096)
            self.reap()
            for pid, connection in list(self.children.items()):
                if connection.fileno() in ready:
                    self.drop(pid)
            if self.listener.fileno() in ready:
                self.accept()
        for pid in list(self.children):
            self.drop(pid)

    def accept(self):
        connection, _ = self.listener.accept()
        parent = os.getpid()
        try:
            pid = os.fork()
        except OSError as error:  # the machine has no room for another process now
            self.tell(connection, {"unanswered": f"the Python worker cannot fork: {error.strerror}"})
            return
        if pid == 0:
            self.become_child(connection, parent)
        os.setpgid(pid, pid)
        self.children[pid] = connection

    def become_child(self, connection, parent):
        status = 1
        try:
            os.setpgid(0, 0)
            forks.die_with(parent)
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for other in self.children.values():
                other.close()
            self.listener.close()
            for descriptor in (self.alive, self.wake_read):
                os.close(descriptor)
            self.serve(connection)
            status = 0
        except SystemExit as leaving:
            status = leaving.code if isinstance(leaving.code, int) else 1
        finally:
            os._exit(status)

    def reap(self):
        """Tells what became of children that ended by themselves."""
        while self.children:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            connection = self.children.pop(pid, None)
            if connection is None:
                continue
            self.kill_group(pid)
            died = {"signal": os.WTERMSIG(status)} if os.WIFSIGNALED(status) else {"exit": os.WEXITSTATUS(status)}
            self.tell(connection, {"died": died})

    @staticmethod
    def tell(connection, what):
        text = json.dumps({**what, "blobs": []}).encode()
        try:
            connection.sendall(len(text).to_bytes(8, "little") + text)
        except OSError:
            pass  # the other side no longer waits for it
        connection.close()

    def drop(self, pid):
        """Kills a child whose answer is no longer needed."""
        self.kill_group(pid)
        self.children.pop(pid).close()
        os.waitpid(pid, 0)

    @staticmethod
    def kill_group(pid):
        try:
            os.killpg(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def report(descriptor, answer):
    os.write(descriptor, json.dumps(answer).encode() + b"\n")
    os.close(descriptor)


def sentence_of(error):
    """Returns in one line why the worker cannot begin."""
    if isinstance(error, OSError) and error.filename and error.filename in ("g++", os.environ.get("CXX")):
        return f"it needs a C++ compiler, and {error.filename} cannot be started; install g++, or name another in $CXX"
    return " ".join(str(error).split())[:300] or type(error).__name__


def main():
    listen, alive, ready = (int(word) for word in sys.argv[1:4])
    folder, given = sys.argv[4], sys.argv[5:]
    gc.disable()  # nothing of what importing makes ever goes
    try:
        try:
            import preparation

            prepared = preparation.preparation_for(folder, given)
            import candidate  # with all of TorchInductor
            import entries
            import landlock

            prepared.finish()
            # No model writes what is kept: libraries that are loaded, a header. Compilers go by TMPDIR, our own too.
            own_folders = (folder, os.environ.get("TMPDIR", folder))
            landlock.write_only_into(*own_folders, *landlock.places_of_cuda_driver("/proc"))
            import torch
        except Exception as error:
            report(ready, {"problem": sentence_of(error)})
            raise
        gc.freeze()  # children need not look through it either, which would copy its pages
        gc.enable()
        versions = {"torch": torch.__version__, "python": sys.version.split()[0]}
        recipe = entries.recipe_in_use.facts() if entries.recipe_in_use else None
        report(ready, {**versions, "call": entries.call_of_its_user(), "recipe": recipe})

        def serve(connection):
            if own_threads := landlock.places_of_cuda_driver("/proc/self/task"):
                landlock.write_only_into(*own_folders, *own_threads)
            candidate.serve(connection, prepared.rest.begin)

        worker = Worker(listen, alive, serve)
        worker.serve_first(SECONDS_TO_CONNECT)
        prepared.warm_up_if_cold()
        gc.freeze()
        worker.run()
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)  # tearing down torch takes half a second


if __name__ == "__main__":
    main()
