"""repro.py: one file that needs PyTorch alone, written as its maintainers like them; and the same program compiled
ahead of time, for C++."""

import inspect
import math
import contextlib
import os
import re
import signal
import sys
import tempfile
import time

import torch
import torch._inductor.config as inductor_config

import entries
import imports
import kernels
from calls import attribute_name
from failure import first_sentence
from module import attributes_read, make_module, named_tensors
from translate import MODULES

MOST_LITERAL_BYTES = 64 * 1024
PATIENCE = 120  # seconds for repro.py


def comment(text):
    """Text from a model is hostile: one line, nothing that is not printable."""
    return "".join(character if character.isprintable() else " " for character in text)


def number(value):
    if isinstance(value, complex):
        return f"complex({number(value.real)}, {number(value.imag)})"
    if isinstance(value, float) and not math.isfinite(value):
        return f"float('{value}')"
    return repr(value)


def shortest(tensor):
    """Its elements, each as short as it can be and still be the same number."""
    digits = {torch.float16: 5, torch.bfloat16: 4, torch.float32: 9}.get(tensor.dtype)
    for value in tensor.tolist():
        if digits and math.isfinite(value):
            value = next(
                short
                for short in [*(float(f"{value:.{d}g}") for d in range(1, digits + 1)), value]
                if torch.tensor(short, dtype=tensor.dtype) == torch.tensor(value, dtype=tensor.dtype)
            )
        yield number(value)


class Literals:
    """Tensors as Python expressions, exactly: data, strides, and which of them share memory."""

    def __init__(self, keeps_grad):
        self.keeps_grad = keeps_grad
        self.storages = {}

    def expression(self, name, formula, tensor):
        grad = ".requires_grad_()" if self.keeps_grad and tensor.requires_grad else ""
        tensor = tensor.detach()
        place = tensor.untyped_storage().data_ptr()
        if place and place in self.storages:
            return self.storages[place] + ".detach()" + self.strided(tensor) + grad
        self.storages[place] = name
        if formula:
            return self.formula(formula, tensor) + grad
        whole = tensor.is_contiguous() and tensor.untyped_storage().nbytes() == tensor.numel() * tensor.element_size()
        if whole:
            shape = "" if tensor.dim() == 1 else f".reshape({list(tensor.shape)})"
            return self.flat(tensor.reshape(-1)) + shape + grad
        elements = tensor.untyped_storage().nbytes() // tensor.element_size()
        storage = torch.empty(0, dtype=tensor.dtype).set_(tensor.untyped_storage(), 0, [elements], [1])
        return self.flat(storage) + self.strided(tensor) + grad

    @staticmethod
    def flat(tensor):
        return f"torch.tensor([{', '.join(shortest(tensor))}], dtype={tensor.dtype})"

    @staticmethod
    def strided(tensor):
        return f".as_strided({list(tensor.shape)}, {list(tensor.stride())}, {tensor.storage_offset()})"

    @staticmethod
    def formula(formula, tensor):
        kind, _, parameter = formula.partition(":")
        shape = list(tensor.shape)
        dtype = "" if tensor.dtype == torch.float32 else f", dtype={tensor.dtype}"
        if kind == "arange":
            reshape = "" if len(shape) == 1 else f".reshape({shape})"
            return f"torch.arange({tensor.numel()}, dtype={tensor.dtype}){reshape}"
        if kind == "full":
            value = float(parameter)
            text = str(bool(value)) if tensor.dtype == torch.bool else number(value)
            if not tensor.is_floating_point() and tensor.dtype != torch.bool:
                text = repr(int(value))
            return f"torch.full({shape}, {text}, dtype={tensor.dtype})"
        if kind in ("randn", "rand"):
            half = tensor.dtype in (torch.float16, torch.bfloat16)
            drawn = f"torch.{kind}({shape}, generator=torch.Generator().manual_seed({parameter})"
            return drawn + (f").to({tensor.dtype})" if half else dtype + ")")
        return f"torch.{kind}({shape}{dtype})"


class Repro:
    """`script` is the program with its constants as buffers; `inputs` are [name, role, formula, tensor]."""

    literals_of = Literals
    has_module = True  # False: it is calls of Python, which neither another front end nor a package takes

    def __init__(self, script, inputs, facts):
        self.facts = facts
        self.inputs = inputs
        self.script = script
        self.front_end = "dynamo"
        self.read_program(script)
        self.literals = self.make_literals()

    def read_program(self, script):
        tensors = {name for name, _ in named_tensors(script)}
        self.objects = sorted(attributes_read(script) - tensors)  # packed parameters: they have no literal
        self.module, source = make_module(script)
        self.forward = source.splitlines()[1:]

    def make_literals(self):
        """name: expression; None when they are too long, or cannot be written down."""
        arguments, attributes = self.literals_of(self.facts["grad"]), self.literals_of(self.facts["grad"])
        texts = {}
        try:
            for name, role, formula, tensor in self.inputs:  # arguments and attributes stand in functions of their own
                texts[name] = (arguments.expression(name, formula, tensor) if role == "input" else
                               attributes.expression("self." + attribute_name(name), formula, tensor))  # fmt: skip
        except (TypeError, NotImplementedError, RuntimeError):
            return None
        return texts if sum(map(len, texts.values())) <= MOST_LITERAL_BYTES else None

    def save_values(self, folder):
        """The files that it reads, if any; repro-minify writes the same beside it."""
        if self.objects:
            self.script.save(f"{folder}/reduced.pt")
        if self.literals is None:
            for name, wanted in (("inputs.pt", True), ("attributes.pt", False)):
                tensors = tuple(t.detach().requires_grad_(t.requires_grad and wanted) for _, role, _, t in self.inputs
                                if (role == "input") == wanted)  # fmt: skip
                torch.save(tensors, f"{folder}/{name}")

    @property
    def attributes(self):
        return [(name, role) for name, role, _, _ in self.inputs if role != "input"]

    def text(self):
        parts = [self.header(), self.imports(), self.classes(), self.make_inputs(), self.run(), self.compare(),
                 self.straight_to_inductor(), self.main()]  # fmt: skip
        return "\n\n".join(part for part in parts if part) + "\n"

    def header(self):
        facts = self.facts
        lines = [
            facts["headline"],
            "",
            "Expected: what eager computes.",
            "Found:    " + facts["found"],
            "",
            f"Seen with PyTorch {torch.__version__}; {facts['minimised']}.",
            "",
            "Run: python repro.py",
            'Exit code: 1 the failure reproduces (and the last line is "REPRODUCED ..."), 0 it no longer does, 2 it '
            "could",
            "not be tried.",
        ]
        return "\n".join(("# " + comment(line)).rstrip() for line in lines)

    def reads_files(self):
        return self.literals is None or bool(self.objects)

    def ends_the_process(self):
        return self.facts["kind"] in ("crash", "hang", "memory")

    def imports(self):
        used = {name for name in MODULES for line in self.forward if re.search(rf"\b{name}\.", line)}
        used |= {"sys", "subprocess"} if self.ends_the_process() else {"sys"}
        used |= {"ctypes"} if self.facts["perturb"] is not None else set()
        used |= {"os"} if self.needs_cublas_workspace() else set()
        lines = [f"import {name}" for name in sorted(used)]
        if self.reads_files() or self.facts.get("operator_libraries"):
            lines.append("from pathlib import Path")
        lines += ["", "import torch"]
        if self.front_end == "fx":
            lines.append("from torch._inductor.compile_fx import compile_fx")
        configured = [entry for entry in entries.configured if entry[0] not in entries.COMPILE_OPTIONS]
        if self.draws_random_numbers():
            configured.insert(0, ("fallback_random", inductor_config.fallback_random))
        if configured:
            lines += ["import torch._inductor.config as config", ""]
            lines += [f"config.{key} = {value!r}" for key, value in dict(configured).items()]
        libraries = self.facts.get("operator_libraries", [])
        if self.reads_files() or libraries:
            lines += ["", "here = Path(__file__).resolve().parent"]
        lines += [f"torch.ops.load_library(str(here / {name!r}))" for name in libraries]
        at = lines.index("import torch") + 1
        lines[at:at] = [f"import {name}  # it registers operators" for name in imports.names]
        return "\n".join(lines)

    def draws_random_numbers(self):
        for line in self.forward:
            _, found, rest = line.partition("torch.ops.")
            if found:
                place = torch.ops
                for word in rest.split("(")[0].split("."):
                    place = getattr(place, word)
                if torch.Tag.nondeterministic_seeded in place.tags:
                    return True
        return False

    def needs_cublas_workspace(self):
        return self.facts["deterministic"] != "off" and self.facts["device"] != "cpu"

    def moved(self):
        """Brings a tensor or a module to the device of the failure."""
        return "" if self.facts["device"] == "cpu" else f".to({self.facts['device']!r})"

    def classes(self):
        lines = ["class Repro(torch.nn.Module):"]
        if self.attributes or self.objects:
            lines += ["    def __init__(self):", "        super().__init__()"]
            if self.objects:
                lines.append('        reduced = torch.jit.load(here / "reduced.pt")')
            lines += [f"        self.{attribute_name(name)} = reduced.{name}" for name in self.objects]
            if self.literals is None:
                lines.append('        saved = torch.load(here / "attributes.pt", weights_only=True)')
            for index, (name, role) in enumerate(self.attributes):
                value = self.literals[name] if self.literals else f"saved[{index}]"
                held = attribute_name(name)
                if role == "parameter":
                    grad = dict((n, t.requires_grad) for n, _, _, t in self.inputs)[name]
                    value = value.removesuffix(".requires_grad_()")
                    lines.append(f"        self.{held} = torch.nn.Parameter({value}, requires_grad={grad})")
                else:
                    lines.append(f'        self.register_buffer("{held}", {value})')
            lines.append("")
        return "\n" + "\n".join(lines + self.forward)

    def make_inputs(self):
        lines = ["def make_inputs():"]
        names = [name for name, role, _, _ in self.inputs if role == "input"]
        if self.literals is None:
            lines.append('    return list(torch.load(here / "inputs.pt", weights_only=True))')
        else:
            lines += [f"    {name} = {self.literals[name]}" for name in names]
            lines.append(f"    return [{', '.join(names)}]")
        return "\n" + "\n".join(lines)

    def run(self):
        facts = self.facts
        device, moved = facts["device"], self.moved()
        lines = ["def leaves(value):", "    if isinstance(value, (list, tuple)):",
                 "        return [leaf for part in value for leaf in leaves(part)]",
                 "    return leaves(list(value.values())) if isinstance(value, dict) else [value]", "", "",
                 "def run(model, call):", f"    torch.manual_seed({facts['seed']})"]  # fmt: skip
        moved_inputs = f"[x.detach(){moved}.requires_grad_(x.requires_grad) for x in make_inputs()]"
        lines.append(f"    inputs = {moved_inputs if moved else 'make_inputs()'}")
        mode = f"torch.set_grad_enabled({facts['grad']})"
        if facts["autocast"]:
            mode += f", torch.autocast({device.split(':')[0]!r}, torch.{facts['autocast_dtype']})"
        lines += [f"    with {mode}:", "        results = leaves(call(*inputs))"]
        if facts["grad"]:
            lines += [
                "    losses = [torch.view_as_real(r) if r.is_complex() else r for r in results",
                "              if isinstance(r, torch.Tensor) and r.requires_grad]",
                f"    {self.parameters()}",
                "    if losses:",
                "        loss = sum(part.sum() / part.numel() for part in losses)",
                "        gradients = torch.autograd.grad(loss, parameters, allow_unused=True)",
                "        results += [torch.zeros(()) if g is None else g for g in gradients]",
            ]
        if facts["where"] == "state":
            lines.append(f"    results += {self.states()}  # as the run leaves them")
        lines.append("    return [r.detach().clone() if isinstance(r, torch.Tensor) else r for r in results]")
        return "\n" + "\n".join(lines)

    def parameters(self):
        return "parameters = [p for p in [*model.parameters(), *inputs] if p.requires_grad]"

    def states(self):
        return "[*inputs, *model.buffers()]"

    def compare(self):
        kind = self.facts["kind"]
        if kind == "exception":
            return "\n" + inspect.getsource(first_sentence).rstrip()
        if self.ends_the_process():
            return ""
        bodies = {
            "structure": ["    return isinstance(expected, torch.Tensor) != isinstance(found, torch.Tensor)"],
            "dtype": ["    return expected.dtype != found.dtype"],
            "shape": ["    return expected.shape != found.shape"],
        }
        if kind == "structure" and self.facts["differs"]["strides"]:
            bodies["structure"] = [
                "    if isinstance(expected, torch.Tensor) and isinstance(found, torch.Tensor):",
                "        strides = zip(expected.shape, expected.stride(), found.stride())",
                "        return any(size > 1 and e != f for size, e, f in strides)",
                *bodies["structure"],
            ]
        body = bodies.get(kind) or self.compare_values()
        if kind != "structure":
            body = ["    if not isinstance(expected, torch.Tensor) or not isinstance(found, torch.Tensor):",
                    "        return False", *body]  # fmt: skip
        return "\n" + "\n".join(["def differs(expected, found):", *body])

    def compare_values(self):
        """The rule in force, as far as this failure needs it: see Predicate in repro/predicate.h."""
        how = self.facts["differs"]
        form, limit, rtol = how["form"], how["limit"], how["rtol"]
        body = ["    if expected.is_complex():",
                "        expected, found = torch.view_as_real(expected), torch.view_as_real(found)"]  # fmt: skip
        if how["floating_only"]:
            body = ["    if not expected.is_floating_point() and not expected.is_complex():",
                    "        return False", *body]  # fmt: skip
        if form == "places" or form not in ("exact", "equal", "direction", "overlap") and not how["as_it_is"]:
            body.append("    expected, found = expected.double(), found.double()")
        if how["why"] and form != "places":
            body.append("    # " + comment(how["why"]))
        order = "found, expected" if how["relative_to_expected"] else "expected, found"
        bodies = {
            "places": ["    expected, found = (torch.where(x.isfinite(), 0.0, x) for x in (expected, found))",
                       "    return not torch.allclose(expected, found, rtol=0, atol=0, equal_nan=True)"],
            "exact": ["    same = (expected == found) & (expected.signbit() == found.signbit())",
                      "    return not (same | (expected.isnan() & found.isnan())).all().item()"],
            "equal": ["    return not expected.is_floating_point() and not torch.equal(expected, found)"],
            "direction": ["    expected, found = expected.flatten().float(), found.flatten().float()",
                          f"    if torch.allclose(expected, found, rtol={rtol}, atol={how['atol']}, equal_nan=True):",
                          "        return False",
                          "    cosine = torch.nn.functional.cosine_similarity(expected, found, dim=0, eps=1e-6)",
                          f"    return not cosine >= {limit}"],
            "overlap": ["    if expected.dtype != torch.bool or found.dtype != torch.bool:",
                        "        return False",
                        "    both, either = (expected & found).sum().item(), (expected | found).sum().item()",
                        f"    return either > 0 and both / either < {limit}"],
            "rms": ["    error = torch.nan_to_num(expected - found, 0, 0, 0)",
                    f"    return error.numel() > 0 and error.square().mean().sqrt().item() > {limit}"],
            "bound": [f"    bound = expected.abs().clamp_min(1) * {rtol} + {limit}",
                      "    return ((found - expected).abs() > bound).any().item()"],
            "close": [f"    return not torch.allclose({order}, rtol={rtol}, atol={how['atol']}, "
                      f"equal_nan={how['equal_nan']})"],
        }  # fmt: skip
        return body + bodies[form]

    def straight_to_inductor(self):
        if self.front_end != "fx":
            return ""
        mode = entries.compile_options.get("mode")
        patches = f", config_patches=torch._inductor.list_mode_options({mode!r})" if mode else ""
        return "\n" + "\n".join([
            "def compiled_without_dynamo(model):",
            "    compiled = []",
            "",
            "    def call(*inputs):",
            "        if not compiled:",
            f"            compiled.append(compile_fx(torch.fx.symbolic_trace(model), list(inputs){patches}))",
            "        return compiled[0](*inputs)",
            "",
            "    return call",
        ])  # fmt: skip

    def compiled(self):
        if self.front_end == "fx":
            return "compiled_without_dynamo(model)"
        options = "".join(f", {key}={value!r}" for key, value in entries.compile_options.items())
        return f"torch.compile(model{options})"

    def make_model(self):
        return "Repro().eval()" + self.moved()

    def main(self):
        facts = self.facts
        kind, calls = facts["kind"], facts["calls"]
        settings = [f"    torch.set_num_threads({facts['threads']})"]
        if facts["perturb"] is not None:
            settings.append("    # Uninitialised memory is read: it holds the same each time (M_PERTURB).")
            settings.append(f"    ctypes.CDLL(None).mallopt(-6, {facts['perturb']})")
        warn_only = facts["deterministic"] == "warn"
        if facts["deterministic"] != "off" and asks_for_determinism(warn_only, facts["device"]):
            settings.append(f"    torch.use_deterministic_algorithms(True, warn_only={warn_only})")
            settings.append("    torch.utils.deterministic.fill_uninitialized_memory = False")
        if self.needs_cublas_workspace():
            settings.append("    # Without it cuBLAS is not deterministic.")
            settings.append('    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")')
        lines = ["def reproduced():  # the line tells the failure from another error: Python exits with 1 there too",
                 f"    print({facts['marker']!r}, flush=True)", "    return 1", "", ""]  # fmt: skip
        lines += ["def main():", *settings, f"    model = {self.make_model()}", "    try:",
                 f"        expected = [run(model, model) for _ in range({calls})]", "    except Exception as error:",
                 '        print("cannot be tried, eager itself raises:", error)', "        return 2",
                 f"    model = {self.make_model()}", f"    compiled = {self.compiled()}"]  # fmt: skip
        if kind == "exception":
            lines += ["    try:", f"        for _ in range({calls}):", "            run(model, compiled)",
                      "    except Exception as error:", '        print("FAIL exception:", first_sentence(error))',
                      "        return reproduced()"]  # fmt: skip
        else:
            lines += [f"    for call in range({calls}):", "        try:", "            found = run(model, compiled)",
                      "        except Exception as error:"]  # fmt: skip
            if kind == "memory":
                lines += ['            if "memory" in str(error) or isinstance(error, MemoryError):',
                          "                print(error)", "                return 3"]  # fmt: skip
            lines += ['            print("cannot be tried, another failure:", error)', "            return 2"]
            if not self.ends_the_process():
                if kind == "structure":
                    lines += ["        if len(expected[call]) != len(found):",
                              '            print("FAIL structure:", len(expected[call]), "expected,", '
                              'len(found), "found")',
                              "            return reproduced()"]  # fmt: skip
                lines += ["        for position, (e, r) in enumerate(zip(expected[call], found)):",
                          "            if differs(e, r):",
                          f'                print("FAIL {kind}: result", position, "expected", e, "found", r)',
                          "                return reproduced()"]  # fmt: skip
        lines += ['    print("PASS: the failure no longer reproduces")', "    return 0"]
        lines += ["", "", 'if __name__ == "__main__":']
        if not self.ends_the_process():
            return "\n" + "\n".join([*lines, "    sys.exit(main())"])
        return "\n" + "\n".join(lines + self.in_a_child())

    def in_a_child(self):
        kind = self.facts["kind"]
        lines = ['    if sys.argv[1:] == ["child"]:', "        sys.exit(main())",
                 "    # The optimised run takes its process with it: give it one of its own.", "    try:",
                 f'        code = subprocess.run([sys.executable, __file__, "child"], timeout={PATIENCE}).returncode',
                 "    except subprocess.TimeoutExpired:"]  # fmt: skip
        if kind == "hang":
            lines += ['        print("FAIL hang: signal 14")', "        sys.exit(reproduced())"]
        else:
            lines += ['        print("cannot be tried, another failure: it hangs")', "        sys.exit(2)"]
        lines += ["    if code in (0, 1, 2):  # Python itself exits with 1, where something else went wrong",
                  "        sys.exit(2 if code else 0)"]  # fmt: skip
        if kind == "hang":
            return [*lines, '    print("cannot be tried, another failure:", code)', "    sys.exit(2)"]
        return lines + [
            f'    print(f"FAIL {kind}: " + (f"signal {{-code}}" if code < 0 else f"exit code {{code}}"))',
            "    sys.exit(reproduced())",
        ]


def space_in(folder, repro):
    """Returns the globals of a repro.py that lies in this folder, and links the libraries of operators there."""
    for name, library in zip(repro.facts.get("operator_libraries", []), entries.libraries):
        with contextlib.suppress(FileExistsError):
            os.symlink(library, os.path.join(folder, name))
    return {"__name__": "repro", "__file__": os.path.join(folder, "repro.py")}


class Trial:
    """repro.py, run in a fork of this process: it has imported torch."""

    def __init__(self, repro, folder):
        self.repro = repro
        self.end = time.monotonic() + PATIENCE
        self.output = tempfile.TemporaryFile("w+", dir=folder)
        self.pid = os.fork()
        if self.pid:
            return
        code = 2
        try:
            os.dup2(self.output.fileno(), 1)
            space = space_in(folder, repro)
            exec(compile(repro.text(), "repro.py", "exec"), space)
            code = space["main"]()
            sys.stdout.flush()
        finally:
            os._exit(code)

    def fails(self):
        """Once it has ended."""
        while True:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > self.end:
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
                return False
            time.sleep(0.02)
        code = os.waitstatus_to_exitcode(status)
        if self.repro.ends_the_process():
            return code not in (0, 2)
        self.output.seek(0)
        printed, marker, _ = self.output.read().partition(self.repro.facts["marker"])
        return code == 1 and bool(marker) and (self.repro.facts["kind"] != "exception" or self.raised_the_same(printed))

    def raised_the_same(self, printed):
        """True if the exception is the one that was found, numbers apart. One of Dynamo itself is another failure."""
        printed = printed.partition("FAIL exception: ")[2]
        return without_numbers(printed) == without_numbers(self.repro.facts["found"])


def without_numbers(message):
    return re.sub(r"0x[0-9a-f]+|\d+", "#", message).split()


def is_tried(repro):
    """True if repro.py is run to choose its front end; not where it hangs, which would have to be waited for."""
    return repro.has_module and entries.front_end != "dynamo" and repro.facts["kind"] != "hang"


def choose_front_end(repro, folder):
    """Where what torch.compile does with it is right, and the graph without Dynamo is not, repro.py goes without."""
    if Trial(repro, folder).fails():
        return
    repro.front_end = "fx"
    if not Trial(repro, folder).fails():
        repro.front_end = "dynamo"


def asks_for_determinism(warn_only, device):
    """True if TorchInductor is told to use deterministic algorithms. It then leaves index_put, index_add and others to
    ATen, and faults in its own would not show. Users do not ask for them, and the default (`warn_only`) asks for them
    for the sake of CUDA: the CPU gives the same result twice without."""
    return not warn_only or device != "cpu"


def compiled_for_once():
    """To precompile the headers takes longer than to read them."""
    name = "aot_inductor.precompile_headers"
    return {name: False} if name in torch._inductor.config.get_config_copy() else {}


def ahead_of_time(repro, path):
    """Compiles the program with AOTInductor into `path`; an empty string if the result fails in the same way, else why
    it is no use."""
    if not repro.has_module:
        return "its calls are functions of Python"
    if entries.compile_options:
        return "it is compiled with options that only torch.compile takes"
    arguments = [tensor for _, role, _, tensor in repro.inputs if role == "input"]
    clones = tuple(tensor.detach().clone() for tensor in arguments)
    space = space_in(os.path.dirname(path), repro)
    exec(compile(repro.text(), "repro.py", "exec"), space)
    try:
        with torch.no_grad():
            expected = space["leaves"](repro.module(*clones))
            exported = torch.export.export(repro.module, clones, strict=False)
            with kernels.wrapper_beside_kernels():
                torch._inductor.aoti_compile_and_package(
                    exported, package_path=path, inductor_configs=compiled_for_once()
                )
            found = torch._inductor.aoti_load_package(path)(*arguments)
    except Exception as error:
        return "compiling ahead of time raises: " + first_sentence(error)
    if any(space["differs"](e, f) for e, f in zip(expected, space["leaves"](found))):
        return ""
    return "compiled ahead of time it is right"
