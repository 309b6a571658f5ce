"""Tests what the worker of the inductor backend does before and beside its candidates: preparation.py, processor.py,
kernels.py, simplifications.py and forks.py.

inductor_preparation.py FOLDER [TEST ...]        FOLDER is src/backends/inductor
"""

import contextlib
import functools
import io
import os
import random
import shlex
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings
from pathlib import Path
from unittest import mock

sys.path.insert(0, os.path.abspath(sys.argv.pop(1)))

try:
    import numpy
except ImportError:
    numpy = None
import sympy
import torch
import torch._dynamo
import torch._inductor.config as inductor_config
from torch._dynamo.utils import counters
from torch._inductor import codecache, cpp_builder
from torch._inductor.exc import CppCompileError
from torch.utils._sympy.functions import FloorDiv, ModularIndexing

import bisector
import candidate
import kernels
import preparation
import stub_libraries
import worker
from failure import first_sentence, has_compilers_verdict
from forks import Later, in_a_fork
from simplifications import remember_simplifications

# Before anything has been settled here: what PyTorch picks by itself, in a process of its own.
PYTORCHS_PICK = "from torch._inductor import cpu_vec_isa as c; i = c.pick_vec_isa(); print(i, i.build_arch_flags())"
where_everything_is_asked_for = unittest.skipUnless(
    "REPRO_MINIFY_ALL_TESTS" in os.environ, "scripts/test.sh --all runs it"
)  # fmt: skip
PREPARED = """
import os, sys, tempfile
sys.path.insert(0, sys.argv[1])
import preparation
prepared = preparation.Preparation(tempfile.mkdtemp(), sys.argv[2:])
prepared.finish()
prepared.warm_up_if_cold()
prepared.rest.begin()
while True:
    try:
        os.wait()
    except ChildProcessError:
        break
import entries
entries.configure()
from torch._inductor import cpu_vec_isa
isa = cpu_vec_isa.pick_vec_isa()
print(isa, isa.build_arch_flags())
"""


def setUpModule():
    scratch = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(scratch.cleanup)
    preparation.prepare(scratch.name, [])


def said_by(*words, folder, **environment):
    known = {**os.environ, "TMPDIR": folder, "TORCHINDUCTOR_CACHE_DIR": folder + "/kept", **environment}
    done = subprocess.run([sys.executable, "-c", *words], capture_output=True, text=True, env=known, cwd=folder)
    return done.stdout.strip() or done.stderr[-2000:]


def libraries(folder):
    return {path.name for path in Path(folder).glob("kept/??/*.so")}


# Each Python that it starts compiles TorchInductor's header, which takes ten seconds.
@where_everything_is_asked_for
class TheProcessor(unittest.TestCase):
    def test_is_asked_as_pytorch_asks_it(self):
        ours, theirs = tempfile.mkdtemp(), tempfile.mkdtemp()
        self.assertEqual(said_by(PREPARED, sys.path[0], folder=ours), said_by(PYTORCHS_PICK, folder=theirs))
        self.assertEqual(libraries(ours), libraries(theirs))  # by the time that repro.py asks
        headers = list(Path(ours).glob("kept/headers/*.gch"))
        self.assertEqual(len(headers), 1, "the one that was made in advance is the one that is looked for")

        capability = {"ATEN_CPU_CAPABILITY": "avx2"}
        narrow = "import torch._inductor.config as c; c.cpp.simdlen = 256; " + PYTORCHS_PICK
        self.assertEqual(said_by(PREPARED, sys.path[0], folder=ours, **capability),
                         said_by(PYTORCHS_PICK, folder=theirs, **capability))  # fmt: skip
        self.assertEqual(said_by(PREPARED, sys.path[0], "cpp.simdlen=256", folder=ours), said_by(narrow, folder=theirs))


class AFailure(unittest.TestCase):
    def test_a_header_that_the_system_lacks_is_no_fault_of_the_source(self):
        for words in ("Python.h: No such file or directory", "'Python.h' file not found"):
            output = f"/tmp/k/main.cpp:23:10: fatal error: {words}\n"
            self.assertFalse(has_compilers_verdict(output))
            self.assertIn("finds no Python.h", candidate.lacked_means(CppCompileError(["g++"], output)))
        of_pytorch = "main.cpp:3:10: fatal error: torch/csrc/gone.h: No such file or directory"
        self.assertTrue(has_compilers_verdict(of_pytorch))
        self.assertEqual(candidate.lacked_means(CppCompileError(["g++"], of_pytorch)), "")


class AKernel(unittest.TestCase):
    def setUp(self):
        self.builds = []
        build = kernels.CppBuilder.build
        counted = lambda builder: (self.builds.append(builder.get_target_file_path()), build(builder))  # noqa: E731
        for place, name, value in ((kernels.CppBuilder, "build", counted),
                                   (codecache.CppPythonBindingsCodeCache, "cache", {})):  # fmt: skip
            patch = mock.patch.object(place, name, value)
            patch.start()
            self.addCleanup(patch.stop)
        kernels.compile_once()

    def load(self, text):
        codecache.CppPythonBindingsCodeCache.cache.clear()  # as in another child
        return codecache.CppPythonBindingsCodeCache.load_pybinding(["float*"], text)

    def test_that_is_refused_is_refused_in_the_same_words_without_the_compiler(self):
        said = []
        for _ in range(2):
            with self.assertRaises(CppCompileError) as raised:
                self.load("this is no C++\n")
            said.append(str(raised.exception))
        self.assertEqual(said[0], said[1])
        self.assertIn("error: ", said[0])
        self.assertEqual(len(self.builds), 1)

    def test_that_is_refused_for_two_reasons_is_refused_for_the_first_as_pytorch_says_it(self):
        text = 'extern "C" void kernel(float*) { one_fault; }\nint another_fault = "";\n'
        said = []
        for ours in (True, False):
            with contextlib.nullcontext() if ours else mock.patch.object(kernels, "and_no_further", lambda: ""):
                with self.assertRaises(CppCompileError) as raised:
                    self.load(text if ours else text + "\n")
            said.append(raised.exception)
        self.assertEqual(first_sentence(said[0]), first_sentence(said[1]))
        self.assertEqual([error.output.count(": error: ") for error in said], [1, 2])

    def test_a_shape_that_dynamo_finds_wrong_is_said(self):
        with self.assertRaises(torch._dynamo.exc.TorchRuntimeError) as raised:
            torch.compile(lambda x: x.view(7), backend="eager")(torch.ones(2))
        self.assertEqual(first_sentence(raised.exception), "shape '[7]' is invalid for input of size 2")

    def test_that_a_compiler_could_not_look_at_is_tried_again(self):
        text = 'extern "C" void kernel(float*) { /* tried again */ }\n'
        broken = mock.patch.object(kernels.CppBuilder, "build", side_effect=CppCompileError(["g++"], "Killed signal"))
        with broken:
            kernels.compile_once()
            with self.assertRaises(CppCompileError):
                self.load(text)
        self.assertTrue(self.load(text))

    def test_that_was_half_written_when_its_child_was_killed_is_compiled_anew(self):
        text = 'extern "C" void kernel(float*) { /* half */ }\n'

        def die_while_writing(command, **_):
            words = shlex.split(command)
            Path(words[words.index("-o") + 1]).write_bytes(b"half")
            raise KeyboardInterrupt

        with mock.patch.object(cpp_builder, "run_compile_cmd", die_while_writing):
            with self.assertRaises(KeyboardInterrupt):
                self.load(text)
        self.assertTrue(self.load(text))

    def test_and_another_are_compiled_at_once(self):
        kernels.compile_side_by_side()
        self.assertEqual(inductor_config.compile_threads, len(os.sched_getaffinity(0)))
        pool = kernels.AsyncCompile()
        # Each waits until as many are there; a time limit would raise here. One processor: one after the other.
        together = threading.Barrier(min(2, inductor_config.compile_threads))
        running = [pool.submit(lambda: together.wait(120)) for _ in range(2)]
        if inductor_config.compile_threads > 1:
            for job in running:
                job.result()
        inductor_config.compile_threads = 1


@where_everything_is_asked_for
class Stubs(unittest.TestCase):
    """Tests the stubs of torch's libraries that the linker is given."""

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        environment = mock.patch.dict(os.environ, TORCHINDUCTOR_CACHE_DIR=self.folder)
        environment.start()
        self.addCleanup(environment.stop)

    def commands_of(self, text):
        """That a kernel is built by, which has to work."""
        commands = []
        run = cpp_builder.run_compile_cmd

        def write_down(command, **how):
            commands.append(command)
            return run(command, **how)

        with mock.patch.object(kernels.CppBuilder, "build", kernels.CppBuilder.build):
            kernels.compile_once()
            with mock.patch.object(cpp_builder, "run_compile_cmd", write_down):
                kernel = codecache.CppPythonBindingsCodeCache.load_pybinding(["float*"], text)
        numbers = torch.full((16,), 0.5)
        kernel(numbers)
        self.assertTrue(torch.allclose(numbers, torch.full((16,), 0.5).sin()))
        return commands

    # A kernel that needs a function which libtorch_cpu.so has, and no other library.
    SINE = """#include <torch/csrc/inductor/cpp_prefix.h>
        extern "C" void kernel(float* x) {{
          for (int i = 0; i < 16; ++i) at::vec::Vectorized<float>(x[i]).sin().store(x + i, 1); /* {} */
        }}"""

    def test_are_what_a_kernel_is_linked_to_and_loads_as_ever(self):
        stub_libraries.make(self.folder)
        made = {path.name for path in Path(self.folder, stub_libraries.FOLDER).iterdir()}
        self.assertIn("libtorch_cpu.so", made)
        command = self.commands_of(self.SINE.format("with"))[-1]
        self.assertIn(f"-L{self.folder}/{stub_libraries.FOLDER} ", command)

    def test_are_not_needed(self):
        command = self.commands_of(self.SINE.format("without"))[-1]
        self.assertNotIn(stub_libraries.FOLDER, command)

    def test_are_not_made_where_the_linker_leaves_no_name_unresolved(self):
        strict = Path(self.folder, "strict")
        strict.write_text(f'#!/bin/sh\nexec {cpp_builder.get_cpp_compiler()} -Wl,-z,defs "$@"\n')
        strict.chmod(0o755)
        with mock.patch.object(cpp_builder, "get_cpp_compiler", lambda: str(strict)):
            stub_libraries.make(self.folder)
        self.assertFalse(Path(self.folder, stub_libraries.FOLDER).exists())

    def test_are_made_of_what_is_loaded_alone(self):
        self.assertTrue(stub_libraries.is_loaded("torch_cpu"))
        self.assertFalse(stub_libraries.is_loaded("torch_that_is_nowhere"))


@where_everything_is_asked_for
class KernelsOfAGraph(unittest.TestCase):
    def test_are_compiled_while_the_rest_is_written(self):
        seen = []
        load = codecache.PyCodeCache.load_by_key_path
        start = kernels.AsyncCompile.cpp_pybinding
        wrapper = kernels.PythonWrapperCodegen

        def loads(*what, **how):
            seen.append("module")
            return load(*what, **how)

        def starts(self, *what):
            seen.append("kernel")
            return start(self, *what)

        with (
            mock.patch.object(codecache.PyCodeCache, "load_by_key_path", loads),
            mock.patch.object(kernels.AsyncCompile, "cpp_pybinding", starts),
            mock.patch.object(wrapper, "define_kernel", wrapper.define_kernel),
            mock.patch.object(inductor_config, "compile_threads", 2),
            torch.no_grad(),
        ):
            kernels.compile_as_they_are_written()
            x = torch.rand(5, 5)
            found = torch.compile(lambda x: torch.softmax((x @ x).relu() @ x, 0))(x)
        self.assertTrue(torch.allclose(found, torch.softmax((x @ x).relu() @ x, 0)))
        written = seen.index("module")
        self.assertGreaterEqual(written, 2)  # both kernels
        self.assertEqual(seen[written + 1 :], ["kernel"] * written)  # when they are asked for


class BuilderOf:
    def __init__(self, target):
        self.target = target

    def get_target_file_path(self):
        return self.target


@where_everything_is_asked_for
class APackage(unittest.TestCase):
    def build(self, wrapper_fails=False):
        """Returns what was built of one, in the order of the ends; its wrapper takes until a kernel is there."""
        ended, kernel = [], threading.Event()

        def build(builder):
            if builder.target.endswith(".wrapper.o"):
                kernel.wait(60)
                if wrapper_fails:
                    raise CppCompileError(["c++"], "no such header")
            ended.append(builder.target)
            if builder.target.endswith(".kernel.o"):
                kernel.set()

        with mock.patch.object(cpp_builder.CppBuilder, "build", build), kernels.wrapper_beside_kernels():
            for target in ("a.wrapper.o", "a.kernel.o", "a.so"):
                cpp_builder.CppBuilder.build(BuilderOf(target))
        return ended

    def test_has_its_wrapper_compiled_beside_its_kernels_and_linked_after_both(self):
        self.assertEqual(self.build(), ["a.kernel.o", "a.wrapper.o", "a.so"])

    def test_is_not_linked_where_its_wrapper_does_not_compile(self):
        with self.assertRaisesRegex(CppCompileError, "no such header"):
            self.build(wrapper_fails=True)


class EntriesOfACheck(unittest.TestCase):
    def test_are_set_beside_those_of_the_worker(self):
        def child():
            candidate.configure_for_this(["cpp.simdlen=1", "dynamic=true"])
            is_set = inductor_config.cpp.simdlen == 1 and candidate.entries.compile_options == {"dynamic": True}
            os._exit(0 if is_set else 1)

        self.assertEqual(os.waitpid(in_a_fork(child), 0)[1], 0)
        self.assertIsNone(inductor_config.cpp.simdlen)

    def test_that_are_unknown_are_no_fault_of_torchinductor(self):
        with self.assertRaisesRegex(candidate.Untranslatable, "no such entry"):
            candidate.configure_for_this(["cpp.simdlength=1"])


class Seeds(unittest.TestCase):
    def test_reach_the_generators_of_python_and_numpy(self):
        drawn = []
        for _ in range(2):
            candidate.seed_generators(2**40 + 3)
            numbers = [random.random(), torch.rand(()).item()]
            drawn.append([*numbers, numpy.random.rand()] if numpy else numbers)
        self.assertEqual(*drawn)


class APicture(unittest.TestCase):
    def test_leaves_the_processors_to_others_here_too(self):
        module = torch.jit.script(torch.nn.ReLU())
        buffer = io.BytesIO()
        torch.jit.save(module, buffer)
        blob = torch.frombuffer(bytearray(buffer.getvalue()), dtype=torch.uint8)
        read, write = os.pipe()

        def child():
            header = {"do": "compile", "module": 0, "memory": 0, "niceness": 19, "seed": 0}
            header.update({"bisection": None, "entries": []})
            candidate.Candidate().compile(header, [blob])
            os.write(write, bytes([os.getpriority(os.PRIO_PROCESS, 0)]))

        os.waitpid(in_a_fork(child), 0)
        os.close(write)
        with open(read, "rb") as answer:
            self.assertEqual(list(answer.read()), [19])


def hits_in_a_child(bisecting=False):
    """How often a child finds the graph of this function compiled: by TorchInductor, by AOTAutograd."""
    read, write = os.pipe()

    def child():
        kernels.compile_no_graph_twice()
        if bisecting:
            bisector.take_part(tempfile.mkdtemp())
        with torch.no_grad():
            torch.compile(lambda x: (x @ x).relu() + 1.25)(torch.ones(3, 3))
        hits = counters["inductor"]["fxgraph_cache_hit"], counters["aot_autograd"]["autograd_cache_hit"]
        os.write(write, bytes(hits))

    os.waitpid(in_a_fork(child), 0)
    os.close(write)
    with open(read, "rb") as answer:
        return list(answer.read())


@where_everything_is_asked_for
class AGraph(unittest.TestCase):
    def test_is_compiled_by_one_child_for_all_but_not_for_a_bisection(self):
        hits = [hits_in_a_child(), hits_in_a_child(), hits_in_a_child(bisecting=True)]
        self.assertEqual(hits, [[0, 0], [1, 1], [0, 0]])


class ASimplification(unittest.TestCase):
    def setUp(self):
        patch = mock.patch.object(sympy, "simplify", sympy.simplify)
        patch.start()
        self.addCleanup(patch.stop)

    def expressions(self):
        x, y = (sympy.Symbol(name, integer=True, nonnegative=True) for name in "xy")
        plain = sympy.Symbol("x")
        for a, b in ((3, 16), (64, 7), (1, 1)):
            yield a * x + b * y - a * x
            yield FloorDiv(x + b * y, a) + ModularIndexing(x, a, b + 1) - x
            yield (a * (plain + 1) ** 2 - a * plain**2) / b
            yield sympy.Max(x, y + a) - sympy.Max(y + a, x)

    def test_is_what_sympy_says_and_asked_once_by_all(self):
        own = {expression: sympy.simplify(expression) for expression in self.expressions()}
        asked = mock.Mock(side_effect=sympy.simplify)
        sympy.simplify = asked
        remember_simplifications()
        for _ in range(2):
            for expression, simpler in own.items():
                self.assertEqual(sympy.simplify(expression), simpler)
                self.assertEqual(sympy.simplify(expression).free_symbols, simpler.free_symbols)
            self.assertEqual(asked.call_count, len(own))

    def test_in_a_way_of_ones_own_is_asked_of_sympy(self):
        remember_simplifications()
        x = sympy.Symbol("x")
        self.assertEqual(sympy.simplify(x**2 + x, ratio=1), sympy.simplify(x**2 + x))
        self.assertEqual(sympy.simplify("x + x"), 2 * x)


class ADevice(unittest.TestCase):
    """A process that has used CUDA has no children that can."""

    def test_is_not_used_by_a_parent_that_warms_up(self):
        used = mock.Mock(side_effect=AssertionError("the device is used"))
        with (
            mock.patch.object(torch.cuda, "is_available", return_value=True),
            mock.patch.object(torch._C, "_cuda_init", used, create=True),
            mock.patch.object(torch._C, "_ensureCUDADeviceGuardSet", used),  # in a build with CUDA it counts devices
        ):
            preparation.warm_up()
            used.assert_not_called()
            with preparation.no_device_used():
                self.assertFalse(torch.cuda.is_available())
                self.assertRaises(preparation.Enough, torch._C._cuda_init)

    def test_is_asked_anew_by_each_child(self):
        import torch.utils._triton

        @functools.cache
        def asked():
            return object()

        with mock.patch.object(torch.utils._triton, "asked", asked, create=True):
            with preparation.no_device_used():
                found_by_the_parent = asked()
            self.assertIsNot(asked(), found_by_the_parent)


class ACandidate(unittest.TestCase):
    @staticmethod
    def lacks_where_inductor_raises(error):
        raised = RuntimeError("backend='inductor' raised")
        raised.__cause__ = error
        return candidate.lacked_means(raised)

    def test_that_lacks_its_means_says_which(self):
        refused = PermissionError(13, "Permission denied", "/nowhere/.triton")
        self.assertIn("Permission denied", self.lacks_where_inductor_raises(refused))
        absent = ModuleNotFoundError("No module named 'tvm'", name="tvm")
        self.assertEqual(self.lacks_where_inductor_raises(absent), "this Python has no module tvm")
        no_device = RuntimeError("CUDA error: initialization error")
        self.assertIn("CUDA could not be started", self.lacks_where_inductor_raises(no_device))

    def test_that_is_wrong_lacks_nothing(self):
        wrong = RuntimeError("CUDA error: an illegal memory access was encountered")
        self.assertEqual(self.lacks_where_inductor_raises(wrong), "")


class AFork(unittest.TestCase):
    def test_that_fails_is_silent(self):
        pid = in_a_fork(lambda: 1 / 0)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)

    def test_that_waits_begins_when_any_process_tells_it(self):
        with tempfile.TemporaryDirectory() as folder:
            mark = Path(folder) / "begun"
            later = Later(mark.touch)
            time.sleep(0.1)
            self.assertFalse(mark.exists())
            os.waitpid(in_a_fork(later.begin), 0)
            for _ in range(12000):
                if mark.exists():
                    break
                time.sleep(0.01)
            self.assertTrue(mark.exists())
            for _ in range(3):
                later.begin()  # the fork no longer listens


class Beginning(unittest.TestCase):
    def test_a_missing_compiler_is_named(self):
        said = worker.sentence_of(PermissionError(13, "Permission denied", "g++"))
        self.assertIn("it needs a C++ compiler, and g++ cannot be started; install g++", said)
        self.assertEqual(worker.sentence_of(OSError(2, "No such file", "other")), "[Errno 2] No such file: 'other'")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    unittest.main(warnings="ignore")
