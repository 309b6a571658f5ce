"""One candidate, in a child of the warm parent: its TorchScript compiled by TorchInductor, run as it is told."""

import contextlib
import ctypes
import errno
import functools
import io
import json
import os
import random
import resource
import sys
import tempfile
import traceback
from pathlib import Path

os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")  # the parent must not touch CUDA: its children could not

import torch
import torch._dynamo
import torch._inductor
import torch._inductor.compile_fx

import about
import ahead_of_time
import bisector
import device_memory
import emit_fx
import emit_recipe
import entries
import fx_candidate
import fx_effects
import fx_graph
import generated
import kept
import kernels
import rungs  # noqa: F401  # it registers backends
import wire
from calls import Untranslatable, attribute_name
from failure import first_sentence, has_compilers_verdict, missing_header
from fx_call import Call
from fx_compiled import FxCompiled, FxOfInputs
from fx_graph import Uncovered
from loops import end_loops
from module import SOURCE_NAME, make_module, named_tensors
from recipe import written
from simplifications import remember_simplifications


def load(header, blobs):
    """The module is one of the blobs: neither process may look into the other."""
    return torch.jit.load(io.BytesIO(wire.memory_of(blobs[header["module"]])))


def limit_memory(allowance):
    if not allowance:
        return
    with open("/proc/self/statm") as file:
        present = int(file.read().split()[5]) * resource.getpagesize()
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    limit = present + allowance if hard == resource.RLIM_INFINITY else min(present + allowance, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))  # the hard one too: what runs here may not lift it


# The last one: what a candidate may not read or write, a user's program may.
WANTS = (errno.ENOENT, errno.ENOSPC, errno.EDQUOT, errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.EROFS,
         errno.EACCES)  # fmt: skip


def lacked_means(error):
    """Names what was missing for an answer: a module, a compiler that could be started, a process, room on the disk, a
    usable device. Empty where nothing was."""
    seen = []
    while isinstance(error, BaseException) and error not in seen:
        seen.append(error)
        error = getattr(error, "inner_exception", None) or error.__cause__
    for error in seen:
        name = type(error).__name__
        if isinstance(error, ModuleNotFoundError):
            return f"this Python has no module {error.name}"
        if isinstance(error, OSError) and error.errno in WANTS or name == "InvalidCxxCompiler":
            return f"{name}: {' '.join(str(error).split())[:200]}"
        if name == "CppCompileError" and (header := missing_header(str(error))):
            package = "; it comes with the package python3-dev, or python3-devel" if header == "Python.h" else ""
            return f"the C++ compiler finds no {header} on this machine{package}"
        if name == "CppCompileError" and not has_compilers_verdict(str(error)):
            return "the C++ compiler could not do its work: " + " ".join(str(error).split())[-200:]
        if "CUDA error: initialization error" in str(error) or "re-initialize CUDA in forked" in str(error):
            return "CUDA could not be started in a process of its own"
        if "CUDA" in str(error) and "out of memory" in str(error):
            return device_memory.held_by_others()
    return ""


def compiler_of(options):
    """Returns the compiler that torch.compile calls for a graph under these options."""
    wrapper = torch._TorchCompileInductorWrapper
    if options.get("backend", "inductor") != "inductor":
        wrapper = functools.partial(torch._TorchCompileWrapper, options["backend"])
    return wrapper(options.get("mode"), None, options.get("dynamic"))


def by_recipe(graph_module, inputs):
    return entries.recipe_in_use.compile(graph_module, inputs, entries.steps)


def compiled_calls(script, module, options):
    """The same for a program of the FX dialect, whose graph is what Dynamo would hand on."""
    if entries.recipe_in_use:
        return FxOfInputs(script, module, fx_candidate.build, by_recipe)
    if options.get("dynamic") or entries.front_end == "dynamo":

        def through_dynamo(graph_module, _):
            return torch.compile(graph_module, **options)

        return FxOfInputs(script, module, fx_candidate.build, through_dynamo)
    return FxCompiled(script, module, fx_candidate.build, compiler_of(options))


class WholeExported:
    """A module that has control flow, for torch.export to make what it can of. Its result is flat."""

    def __init__(self, module):
        self.module = module
        self.run = None

    def __call__(self, *arguments):
        if self.run is None:
            self.run = by_recipe(self.module, arguments)
        results = self.run(*arguments)
        alone = not isinstance(results, (list, tuple)) or len(results) == 1
        return results if alone and isinstance(results, torch.Tensor) else results[0] if alone else tuple(results)


def eager_calls(script, module, float64):
    """A program of the FX dialect, called one by one."""

    def as_it_is(graph_module, _):
        return fx_candidate.in_float64(graph_module) if float64 else graph_module

    return FxOfInputs(script, module, fx_candidate.build_for_eager, as_it_is)


def compiled(script, module, options):
    """Callable as the module is: its graph handed to TorchInductor where it is straight-line, else through Dynamo."""
    if entries.recipe_in_use:
        return whichever_can(FxOfInputs(script, module, fx_graph.build, by_recipe), WholeExported(module))
    through_dynamo = torch.compile(module, **options)
    if options.get("dynamic") and entries.front_end == "fx":
        raise Untranslatable("frontend=fx: its shapes are static, dynamic=true is not")
    if options.get("dynamic") or entries.front_end == "dynamo":
        return through_dynamo
    through_fx = FxCompiled(script, module, fx_graph.build, compiler_of(options))
    return whichever_can(through_fx, through_dynamo)


def whichever_can(through_fx, another):
    """Calls the first, or for what it does not cover the other."""
    ways = [through_fx, another]

    def call(*arguments):
        try:
            return ways[0](*arguments)
        except Uncovered as reason:
            if entries.front_end == "fx":
                raise Untranslatable(f"frontend=fx: {reason}") from reason
            del ways[0]
            return ways[0](*arguments)

    return call


class Program:
    """One program of a check: compiled, or as eager runs it."""

    def __init__(self, header, blobs):
        script = load(header, blobs)
        of_python = fx_candidate.calls_python(script)
        try:
            self.module = fx_candidate.holder_of(script) if of_python else make_module(script)[0]
        except Exception as error:  # no fault of TorchInductor
            raise Untranslatable(first_sentence(error)) from error
        self.state = {name: getattr(self.module, attribute_name(name)) for name, _ in named_tensors(script)}
        if header.get("eager"):
            self.call = eager_calls(script, self.module, header["float64"])
        else:
            ways = compiled_calls if of_python else compiled
            self.call = ways(script, self.module, self.options(header.get("bisection")))
        self.outputs = self.leaves = None

    @staticmethod
    def options(bisection):
        if not bisection:
            return entries.compile_options
        bisector.take_part(bisection["folder"])
        through_inductor = bisection["backend"] == "inductor"
        options = entries.compile_options.items()
        known = {key: value for key, value in options if key != "mode" or through_inductor}
        return {**known, "backend": bisection["backend"]}

    def run(self, header, blobs):
        reader = wire.Reader(blobs)
        arguments = [reader.value(argument) for argument in header["arguments"]]
        before = [blob.clone() for blob in blobs]
        state_before = {name: tensor.detach().clone() for name, tensor in self.state.items()}
        views = [view_of(tensor) for tensor in tensors_in(arguments)]
        with settings(header["settings"]):
            output = self.call(*arguments)
        self.outputs = [tensor for tensor in tensors_in(output) if tensor.requires_grad]
        self.leaves = [p for p in self.module.parameters() if p.requires_grad]
        self.leaves += [tensor for tensor in tensors_in(arguments) if tensor.requires_grad and tensor.is_leaf]
        writer = wire.Writer()
        answer = {"output": writer.value(output)}
        answer["module"] = [
            [name, writer.value(tensor)] for name, tensor in self.state.items() if written(state_before[name], tensor)
        ]
        answer["storages"] = []
        for index, storage in reader.storages.items():
            now = wire.bytes_of(storage)
            if now.numel() != before[index].numel() or not torch.equal(now, before[index]):
                answer["storages"].append([index, len(writer.blobs)])
                writer.blobs.append(now)
        answer["views"] = changed_views(tensors_in(arguments), views)
        return answer, writer.blobs

    def backward(self, header, blobs):
        reader = wire.Reader(blobs)
        given = [reader.value(gradient) for gradient in header["gradients"]]
        pairs = [(output, gradient) for output, gradient in zip(self.outputs, given) if gradient is not None]
        with settings({**header["settings"], "autocast": False}):  # which is for the forward alone
            gradients = torch.autograd.grad(
                [output for output, _ in pairs],
                self.leaves,
                [gradient for _, gradient in pairs],
                retain_graph=True,
                allow_unused=True,
            )
        writer = wire.Writer()
        return {"gradients": [writer.value(gradient) for gradient in gradients]}, writer.blobs


def bytes_of_file(path):
    content = bytearray(path.read_bytes())
    return torch.frombuffer(content, dtype=torch.uint8) if content else torch.empty(0, dtype=torch.uint8)


class Candidate:
    """Answers all that one check asks for: its programs, three at most, share a process. One that is kept answers
    another check once it has been told to put_back()."""

    def __init__(self, device=kept.Device):
        self.programs = []
        self.modes = None
        self.beginning = kept.Beginning(device)

    @staticmethod
    def begin(header):
        """Takes what this child may use, and where its generators begin."""
        limit_memory(header["memory"])
        with contextlib.suppress(PermissionError):  # less than what the parent has
            os.setpriority(os.PRIO_PROCESS, 0, header["niceness"])
        seed_generators(header["seed"])

    def begin_calls(self, header, _):
        """The calls that follow run one after the other under these settings, as in one program."""
        self.begin(header)
        self.modes = settings(header["settings"])
        self.modes.__enter__()
        return {}, []

    def call(self, header, blobs):
        """Calls one function. Says what it gives, and which storages it has written to."""
        reader = wire.Reader(blobs)
        operands = [reader.value(operand) for operand in header["operands"]]
        given = list(tensors_in(operands))
        versions, views = [tensor._version for tensor in given], [view_of(tensor) for tensor in given]
        grad = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in given)
        call = Call(header["call"], operands)
        grad = grad and not call.detaches
        call.modes = [mode for mode in call.modes if "grad" not in mode]
        # Without gradients: each operand would be a leaf, which nothing may write to.
        with torch.no_grad(), fx_effects.writes_noticed(call.target, given):
            output = call.args[0] if call.is_hook else call.run()
        output = list(output) if isinstance(output, tuple) else output  # the kind of the call is Tensor[]
        written = {
            tensor.untyped_storage().data_ptr() for tensor, version in zip(given, versions)
            if tensor._version != version
        }  # fmt: skip
        writer = wire.Writer(reader.storages, len(blobs))
        answer = {"output": writer.value(output), "storages": [], "grad": grad}
        for index, storage in reader.storages.items():
            if storage.data_ptr() in written:
                answer["storages"].append([index, len(blobs) + len(writer.blobs)])
                writer.blobs.append(wire.bytes_of(storage))
        answer["views"] = changed_views(given, views)
        return answer, writer.blobs

    def compile(self, header, blobs):
        self.begin(header)
        configure_for_this(header["entries"])
        self.programs.append(Program(header, blobs))
        return {"program": len(self.programs) - 1}, []

    def run(self, header, blobs):
        return self.programs[header["program"]].run(header, blobs)

    def backward(self, header, blobs):
        return self.programs[header["program"]].backward(header, blobs)

    def forget(self, header, _):
        """Gives up the data of a program: a check has room for one at a time."""
        self.programs[header["program"]] = None
        return {}, []

    def put_back(self, _, __):
        """Gives up what the check has left here. Says what of it stays: see kept.py."""
        self.programs.clear()
        return {"left": self.beginning.left()}, []

    def repro(self, header, blobs):
        """The program as text for repro.py, in each way that there is: see emit.Repro.parts()."""
        programs = emit_recipe.programs if entries.recipe_in_use else emit_fx.programs
        return {"programs": [repro.parts() for repro in programs(*program_of(header, blobs))]}, []

    def explain(self, header, blobs):
        """Returns what about.py finds out of the program, and as "generated" the code that generated.py shows."""
        self.begin(header)
        programs = emit_recipe.programs if entries.recipe_in_use else emit_fx.programs
        with settings(header["settings"]):
            repro, program = programs(*program_of(header, blobs))[0], Program(header, blobs)
            of_inductor = not entries.recipe_in_use
            shown = generated.of_program(repro, program, Program(header, blobs)) if of_inductor else None
            return {**about.program(repro, program), "generated": shown}, []

    def artefact(self, header, blobs):
        """The files that the runtime of a recipe loads."""
        reader = wire.Reader(blobs)
        inputs = [reader.value(value) for _, role, _, value in header["inputs"] if role == "input"]
        script = load(header, blobs)
        of_python = fx_candidate.calls_python(script)
        module = fx_candidate.holder_of(script) if of_python else make_module(script)[0]
        with tempfile.TemporaryDirectory() as folder, torch.no_grad():

            def write(graph_module, given):
                entries.recipe_in_use.artefact(graph_module, given, folder)
                return graph_module

            FxOfInputs(script, module, fx_candidate.build if of_python else fx_graph.build, write)(*inputs)
            files = [path for path in sorted(Path(folder).iterdir()) if path.is_file()]
            return {"names": [path.name for path in files]}, [bytes_of_file(path) for path in files]

    def package(self, header, blobs):
        """The program compiled by AOTInductor, or why there is no use in that."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.pt2")
            repro = emit_fx.programs(*program_of(header, blobs))[-1]
            if none_because := ahead_of_time.ahead_of_time(repro, path):
                return {"none_because": none_because}, []
            with open(path, "rb") as file:
                return {"none_because": ""}, [torch.frombuffer(bytearray(file.read()), dtype=torch.uint8)]

    def answer(self, header, blobs):
        """(header, blobs) of the answer; what it raises is an answer too."""
        try:
            return getattr(self, header["do"])(header, blobs)
        except Untranslatable as error:
            return {"cannot": str(error)}, []
        except wire.CannotSend as error:
            return {"cannot": f"{error} cannot be sent back to be compared"}, []
        except MemoryError:
            return {"memory": True}, []
        except Exception as error:
            if is_pythons_own(error):
                return {"cannot": f"Python raises what TorchScript does not: {first_sentence(error)}"}, []
            lacked = lacked_means(error)
            return {"unanswered" if lacked else "raised": lacked or first_sentence(error)}, []


def is_pythons_own(error):
    """True for an error of numbers in the Python that was made of TorchScript, where 1 / 0 is inf, and sqrt(-1) NaN."""
    if not isinstance(error, (ZeroDivisionError, OverflowError, ValueError)):
        return False
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and frames[-1].filename == SOURCE_NAME


def program_of(header, blobs):
    """The module, its inputs as [name, role, formula, tensor], and the facts of a request for texts."""
    reader = wire.Reader(blobs)
    inputs = [[name, role, formula, reader.value(value)] for name, role, formula, value in header["inputs"]]
    return load(header, blobs), inputs, header["facts"]


def tensors_in(value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from tensors_in(part)
    elif isinstance(value, dict):
        yield from tensors_in(list(value.values()))


def view_of(tensor):
    return [list(tensor.shape), list(tensor.stride()), tensor.storage_offset()]


def changed_views(tensors, before):
    """Returns [place, sizes, strides, offset] of each tensor that is another view of its memory than before."""
    now = map(view_of, tensors)
    return [[place, *view] for place, (view, old) in enumerate(zip(now, before, strict=True)) if view != old]


def seed_generators(seed):
    """PyTorch's, and those that an operator written in Python may draw from."""
    torch.manual_seed(seed)
    random.seed(seed)
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed(seed % 2**32)


@contextlib.contextmanager
def settings(given):
    """The generators, threads and modes that the caller has set for its own side."""
    seed_generators(given["seed"])
    if torch.get_num_threads() != given["threads"]:
        torch.set_num_threads(given["threads"])
    deterministic = given["deterministic"] and asks_for_determinism(given["warn_only"], given["device"])
    torch.use_deterministic_algorithms(deterministic, warn_only=given["warn_only"])
    torch.utils.deterministic.fill_uninitialized_memory = False
    if given["device"] != "cpu":
        if deterministic:  # cuBLAS reads it as it is first used
            os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = given["tf32"]
    torch.compiler.config.cache_key_tag = json.dumps(given)  # up to 2.12 the key has no number of threads
    dtype = getattr(torch, given["autocast_dtype"])
    with torch.set_grad_enabled(given["grad"]), torch.autocast(given["device"], dtype, enabled=given["autocast"]):
        yield


def asks_for_determinism(warn_only, device):
    """True if TorchInductor is told to use deterministic algorithms. It then leaves index_put, index_add and others to
    ATen, and faults in its own would not show. Users do not ask for them, and the default (`warn_only`) asks for them
    for the sake of CUDA: the CPU gives the same result twice without."""
    return not warn_only or device != "cpu"


def hold_unwritten_memory_still():
    """Fills uninitialised memory in this process as the checks of other backends do: see check/initial_state.h."""
    perturb = -6
    with contextlib.suppress(AttributeError):  # not glibc
        ctypes.CDLL(None).mallopt(perturb, 85)


def configure_for_this(given):
    """Adds this candidate's entries to those that the worker was started with. Throws Untranslatable for a bad one."""
    try:
        entries.check_entries(given)
    except ValueError as error:
        raise Untranslatable(str(error)) from error
    entries.configure()


def used():
    """Nanoseconds on processors, with those of compilers that have ended, and nanoseconds of waiting for one: the check
    that waits for an answer uses none itself, and a busy machine would look like a hang of TorchInductor."""
    spent = sum(os.times()[:4])
    with contextlib.suppress(OSError, ValueError), open("/proc/self/schedstat") as file:
        return [int(spent * 1e9), int(file.read().split()[1])]
    return [int(spent * 1e9), 0]


def serve(connection, search_is_over, candidate=None):
    """Says first which process this is. `search_is_over`: what to call once another question comes. `candidate`: who
    answers, if not a Candidate."""
    wire.send(connection, {"pid": os.getpid()})
    hold_unwritten_memory_still()
    kernels.compile_side_by_side()
    kernels.compile_as_they_are_written()
    kernels.compile_once()
    kernels.compile_no_graph_twice()
    remember_simplifications()
    end_loops()
    entries.configure()  # a fault that is injected is for the candidates, not for what is compiled to warm up
    candidate = candidate or Candidate()
    try:
        while True:
            header, blobs = wire.receive(connection)
            if header["do"] in ("bisect", "parts", "repro", "package", "scripts", "artefact", "explain"):
                search_is_over()
            if header["do"] == "bisect":
                bisector.serve(connection)
            elif header["do"] == "parts":
                wire.send(connection, {"parts": bisector.parts()})
            else:
                answer, values = candidate.answer(header, blobs)
                wire.send(connection, {**answer, "used": used()}, values)
    except wire.Closed:
        pass
    except wire.Garbled as problem:
        wire.send(connection, {"unanswered": f"the Python worker was sent {problem}"})
