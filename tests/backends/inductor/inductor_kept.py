"""Children of the worker that answer check after check (kept.py): an answer is that of a fresh process, whatever was
asked before, or the child says that something is left.

    inductor_kept.py FOLDER [TEST ...]        FOLDER is src/backends/inductor
"""

import contextlib
import gc
import io
import os
import socket
import sys
import tempfile
import unittest
import unittest.mock
import weakref

sys.path.insert(0, os.path.abspath(sys.argv.pop(1)))

import torch
import torch.nn.functional as F

import candidate
import entries
import kept
import wire
import worker
from forks import in_a_fork

entries.check_entries(["backend=eager"])  # what Dynamo hands on is not compiled: nothing here is about kernels
torch.set_num_threads(1)

MEANS = {"memory": 0, "niceness": 0, "seed": 1}
SETTINGS = {"seed": 7, "threads": 1, "grad": False, "deterministic": False, "warn_only": True, "tf32": False,
            "device": "cpu", "autocast": False, "autocast_dtype": "bfloat16"}  # fmt: skip


class PretendedDevice:
    """Answers what kept.py asks of a device."""

    sum, error, bytes = 2, "", 100 << 20

    @classmethod
    def is_used(cls):
        return True

    @classmethod
    def adds(cls):
        if cls.error:
            raise RuntimeError(cls.error)
        return cls.sum

    @classmethod
    def bytes_in_use(cls):
        return cls.bytes


class SpoiltCandidate(candidate.Candidate):
    """Can be told to do what a program may do to its process, too."""

    def spoil(self, header, _):
        SPOILERS[header["how"]]()
        return {}, []


def device_has(**changes):
    for name, value in changes.items():
        setattr(PretendedDevice, name, value)


def raise_error():
    raise RuntimeError("no")


def push_function_mode():
    torch.overrides.TorchFunctionMode().__enter__()


SPOILERS = {
    "crash": os.abort,
    "exit": lambda: os._exit(3),
    "exit of Python": lambda: sys.exit(3),
    "closed descriptors": lambda: os.closerange(3, 1 << 16),
    "a sum that is wrong": lambda: device_has(sum=3),
    "an error that comes late": lambda: device_has(error="CUDA error: an illegal memory access was encountered"),
    "memory of the device": lambda: device_has(bytes=200 << 20),
    "the default dtype": lambda: torch.set_default_dtype(torch.float64),
    "the default device": lambda: torch.set_default_device("meta"),
    "autocast": lambda: torch.set_autocast_enabled("cpu", True),
    "the autocast cache": lambda: torch.set_autocast_cache_enabled(False),
    "grad mode": lambda: torch._C._set_grad_enabled(False),
    "a function mode": push_function_mode,
    "denormals": lambda: torch.set_flush_denormal(True),
    "cuDNN": lambda: setattr(torch.backends.cudnn, "benchmark", True),
    "the folder": lambda: os.chdir("/"),
}
HARMLESS = {
    "nothing": lambda: None,
    "an exception": raise_error,
    "seeds": lambda: torch.manual_seed(99),
    "threads": lambda: torch.set_num_threads(2),
    "deterministic algorithms": lambda: torch.use_deterministic_algorithms(True),
    "TF32": lambda: setattr(torch.backends.cuda.matmul, "allow_tf32", True),
    "little memory": lambda: device_has(bytes=110 << 20),
    "less memory": lambda: device_has(bytes=10 << 20),
}
SPOILERS.update(HARMLESS)


class Draws(torch.nn.Module):
    def forward(self, x):
        return F.dropout(x, 0.5, True) + torch.rand_like(x)


class Multiplies(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(8, 8, generator=torch.Generator().manual_seed(3)))

    def forward(self, x):
        return torch.matmul(x, self.weight).relu_()


class Writes(torch.nn.Module):
    def forward(self, x):
        x.mul_(2)
        return x.sum(-1)


def archive_of(module):
    file = io.BytesIO()
    torch.jit.save(torch.jit.script(module), file)
    return torch.frombuffer(bytearray(file.getvalue()), dtype=torch.uint8)


class Connection:
    """One child of a worker, over its socket."""

    def __init__(self, address):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(120)
        self.socket.connect(address)
        self.pid = wire.receive(self.socket)[0]["pid"]

    def ask(self, header, blobs=()):
        wire.send(self.socket, header, blobs)
        return wire.receive(self.socket)

    def check(self, module, **settings):
        """Returns what the module gives for ones, and leaves in its argument."""
        compiled = {**MEANS, "do": "compile", "module": 0, "bisection": None, "entries": []}
        number = self.ask(compiled, [archive_of(module)])[0]["program"]
        writer = wire.Writer()
        argument = writer.value(torch.ones(8, 8))
        run = {"do": "run", "program": number, "arguments": [argument], "settings": {**SETTINGS, **settings}}
        answer, blobs = self.ask(run, writer.blobs)
        return wire.Reader(blobs).value(answer["output"]), [blob.tolist() for blob in blobs]

    def left(self):
        return self.ask({"do": "put_back"})[0].get("left", "all of it")

    def is_over_after(self, how):
        """True if the child does not answer any more, or says that something is left."""
        with contextlib.suppress(wire.Closed, ConnectionError):
            answer = self.ask({"do": "spoil", "how": how})[0]
            return "died" in answer or self.left() != ""
        return True


class Kept(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.address = os.path.join(folder.name, "socket")
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(cls.address)
        listener.listen(8)
        alive, held = os.pipe()

        def serve(connection):
            candidate.serve(connection, lambda: None, SpoiltCandidate(PretendedDevice))

        def work():
            os.close(held)
            gc.freeze()  # as the worker's parent does: its children do not look through what was there before
            worker.Worker(listener.fileno(), alive, serve).run()

        pid = in_a_fork(work)
        listener.close()
        cls.addClassCleanup(lambda: (os.close(held), os.waitpid(pid, 0)))

    def child(self):
        connection = Connection(self.address)
        self.addCleanup(connection.socket.close)
        return connection

    def test_answers_are_those_of_fresh_processes(self):
        asked = [(Draws(), {}), (Multiplies(), {"autocast": True}), (Multiplies(), {}), (Writes(), {}), (Draws(), {}),
                 (Multiplies(), {"grad": True, "deterministic": True, "warn_only": False}), (Draws(), {})]  # fmt: skip
        one = self.child()
        for module, settings in asked:
            fresh = self.child().check(module, **settings)
            again = one.check(module, **settings)
            self.assertEqual(one.left(), "")
            self.assertEqual(fresh[0].dtype, again[0].dtype)
            self.assertTrue(torch.equal(fresh[0], again[0]), type(module).__name__)
            self.assertEqual(fresh[1], again[1])

    def test_a_spoilt_process_is_told_of(self):
        for how in SPOILERS.keys() - HARMLESS.keys():
            with self.subTest(how):
                child = self.child()
                child.check(Multiplies())
                self.assertEqual(child.left(), "")
                self.assertTrue(child.is_over_after(how))

    def test_a_process_that_the_first_check_spoils_is_told_of(self):
        for how in ("crash", "a sum that is wrong", "the default dtype"):
            with self.subTest(how):
                self.assertTrue(self.child().is_over_after(how))

    def test_what_is_taken_back_ends_no_process(self):
        right = self.child().check(Draws())[0]
        child = self.child()
        for how in HARMLESS:
            with self.subTest(how):
                self.assertFalse(child.is_over_after(how))
                self.assertTrue(torch.equal(child.check(Draws())[0], right))


class OnADevice(unittest.TestCase):
    def test_cublas_is_told_to_be_deterministic_before_it_is_used(self):
        for deterministic in (False, True):
            given = {**SETTINGS, "device": "cuda", "deterministic": deterministic}
            with unittest.mock.patch.dict(os.environ, clear=False):
                os.environ.pop("CUBLAS_WORKSPACE_CONFIG", None)
                with candidate.settings(given):
                    self.assertEqual(os.environ.get("CUBLAS_WORKSPACE_CONFIG"), ":4096:8" if deterministic else None)


class DeviceMemory(unittest.TestCase):
    """The answer to an error that the device's memory ran out, on a device of 8 GiB."""

    def said(self, free, own):
        with (
            unittest.mock.patch("torch.cuda.mem_get_info", lambda: (free << 30, 8 << 30)),
            unittest.mock.patch("torch.cuda.memory_reserved", lambda: own << 30),
        ):
            return candidate.lacked_means(torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."))

    def test_it_is_no_answer_where_others_hold_it(self):
        self.assertIn("other processes hold 7168 MiB", self.said(free=0, own=1))

    def test_it_is_an_answer_where_the_program_holds_it(self):
        self.assertEqual(self.said(free=0, own=7), "")


class TakenBack(unittest.TestCase):
    def test_what_was_compiled_is_forgotten(self):
        module = Multiplies()
        known = weakref.ref(module.weight)
        compiled = torch.compile(module, backend="eager")
        compiled(torch.ones(2, 8))
        del module, compiled
        kept.take_back()
        gc.collect()
        self.assertIsNone(known())


if __name__ == "__main__":
    unittest.main()
