"""Serves many checks from one start: a program in Python that ends in `--serve` as a backend of repro-minify.

    if sys.argv[-1] == "--serve":
        import torch  # and whatever else takes long to import
        serve(main)
    main()

main() finds in sys.argv what it would find without --serve: a model, its inputs, and where to write outputs.
docs/backends.md has what crosses the socket.
"""

import contextlib
import ctypes
import json
import os
import random
import resource
import select
import signal
import socket
import sys
import traceback

PR_SET_PDEATHSIG = 1
SEED = "REPRO_MINIFY_SEED"
SECONDS_BETWEEN_LOOKS_AT_THE_PARENT = 5


def serve(main):
    """Waits on the listening socket that is standard input, and calls main() in a new process for each request. Ends,
    without returning, when repro-minify does. Nothing may have run on several threads before: a fork copies but one."""
    listener = socket.socket(fileno=os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    listener.settimeout(SECONDS_BETWEEN_LOOKS_AT_THE_PARENT)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the children are not waited for
    parent = os.getppid()
    while os.getppid() == parent:
        try:
            connection, _ = listener.accept()
        except TimeoutError:
            continue
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.setpgid(0, 0)  # who ends the server lets this one clear up
            listener.close()
            tell(connection, answer(connection, main))
            break
        connection.close()
    os._exit(0)


def seed_generators():
    """Python's own generator, and those of numpy and torch where they have been imported, as repro-minify has seeded
    its own for this call: dropout and torch.rand then draw here what they draw in eager. serve() calls it before
    main(); a program that is started for each call does so itself, once it has imported what it needs."""
    if SEED not in os.environ:  # started by hand
        return
    seed = int(os.environ[SEED])
    random.seed(seed)
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed(seed % 2**32)
    if torch := sys.modules.get("torch"):
        torch.manual_seed(seed)


def answer(connection, main):
    """Has main() run by a worker of its own, and says how that ended."""
    request = json.loads(connection.makefile().readline() or "{}")
    if not request:  # whether the program is ready
        return {"exit": 0}
    messages, messages_of_worker = os.pipe()
    watcher = os.getpid()
    worker = os.fork()
    if worker == 0:
        become_worker(watcher, messages_of_worker, request.get("memory", 0))
        os.environ[SEED] = str(request.get("seed", 0))
        seed_generators()
        sys.argv[-1:] = [request[name] for name in ("model", "inputs", "outputs")]
        os._exit(exit_code_of(main))
    with contextlib.suppress(OSError):  # it has done so itself by now
        os.setpgid(worker, worker)
    os.close(messages_of_worker)
    return watch(worker, connection, messages)


def exit_code_of(main):
    """Calls main() and returns the exit code that Python itself would give, without taking down the interpreter, which
    takes several times as long as the work."""
    code = 0
    try:
        main()
    except SystemExit as leaving:
        code = leaving.code or 0
        if not isinstance(code, int):
            print(code, file=sys.stderr)
            code = 1
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def become_worker(watcher, messages, memory):
    os.setpgid(0, 0)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != watcher:
        os._exit(1)
    os.dup2(messages, sys.stderr.fileno())
    os.close(messages)
    if memory:
        with open("/proc/self/statm") as file:
            present = int(file.read().split()[5]) * resource.getpagesize()
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        wanted = present + memory
        resource.setrlimit(resource.RLIMIT_DATA, (wanted if hard < 0 else min(wanted, hard), hard))


def watch(worker, connection, messages):
    """Returns how the worker ended. Kills it, with all that it started, if the client closes the connection."""
    said = bytearray()
    ended = os.pidfd_open(worker)
    poll = select.poll()
    poll.register(connection, select.POLLRDHUP)
    poll.register(messages, select.POLLIN)
    poll.register(ended, select.POLLIN)
    while True:
        ready = {descriptor for descriptor, _ in poll.poll()}
        if connection.fileno() in ready:
            break
        if messages in ready:
            text = os.read(messages, 1 << 16)
            said = (said + text)[-(1 << 16) :]
            if not text:
                poll.unregister(messages)
        elif ended in ready:
            break
    with contextlib.suppress(ProcessLookupError):
        os.killpg(worker, signal.SIGKILL)
    _, status = os.waitpid(worker, 0)
    if os.WIFSIGNALED(status):
        return {"signal": os.WTERMSIG(status)}
    lines = [line for line in said.decode(errors="replace").splitlines() if line.strip()]
    return {"exit": os.WEXITSTATUS(status), "message": lines[-1] if lines else ""}


def tell(connection, answer):
    with contextlib.suppress(OSError):  # the client may have gone
        connection.sendall(json.dumps(answer).encode() + b"\n")
