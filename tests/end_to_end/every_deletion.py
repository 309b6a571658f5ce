"""every_deletion.py REPRO_FOLDER...: is what repro-minify calls 1-minimal so?

For each folder, every single deletion of an operator, of an output and of an input of reduced.pt is written as a
program of its own and checked by Python. It shares no code with the tool: the source text in the archive is edited, not
the graph, PyTorch's own functions switch on the backend, and torch._dynamo.utils.same compares.

A deletion: an operator goes, and what it made becomes an argument with the value that eager had (a literal where it is
no tensor), or one of its operands is read in its place; an output goes; an input is no longer read, as another of its
type stands in its place.

Prints a line of JSON for each folder. Exit code 1 if a deletion still fails the same way, 2 if a folder could not be
tried (a program with blocks inside, a backend that Python does not have).
"""

import ast
import copy
import io
import json
import os
import pickle
import re
import sys
import tempfile
import traceback
import warnings
import zipfile
from pathlib import Path

import torch
from torch._dynamo.utils import same

warnings.filterwarnings("ignore")

PASSES = {
    "peephole": lambda graph: torch._C._jit_pass_peephole(graph, True),
    "remove-mutation": torch._C._jit_pass_remove_mutation,
    "remove-inplace-ops": torch._C._jit_pass_remove_inplace_ops,
    "fuse-add-relu": torch._C._jit_pass_fuse_add_relu,
    "constant-propagation": torch._C._jit_pass_constant_propagation,
    "cse": torch._C._jit_pass_cse,
}
TOLERANCE = 1e-3
SECONDS = 60


class Untried(Exception):
    """This folder is beyond what Python can do here; the message says why."""


# ---------------------------------------------------------------- the program as text


class Archive:
    """reduced.pt: its source, and the same with another source."""

    def __init__(self, path):
        with zipfile.ZipFile(path) as file:
            self.entries = {name: file.read(name) for name in file.namelist()}
        (self.code,) = [name for name in self.entries if "/code/" in name and name.endswith(".py")]
        self.tree = ast.parse(self.entries[self.code].decode())

    def with_tree(self, tree):
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as file:
            for name, text in self.entries.items():
                if not name.endswith(".debug_pkl"):
                    file.writestr(name, ast.unparse(tree) + "\n" if name == self.code else text)
        return made.getvalue()


def forward_of(tree):
    (module,) = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    return next(node for node in module.body if isinstance(node, ast.FunctionDef) and node.name == "forward")


class Hoister(ast.NodeTransformer):
    """One operator a statement: what stands inside an expression gets a name and a line of its own before it."""

    def __init__(self):
        self.lines = []
        self.count = 0

    def statement(self, node):
        """Returns the statements that replace a statement, the operators of its arguments first."""
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.Expr)) and is_operator(node.value):
            node.value = self.generic_visit(node.value)
        else:
            node = self.visit(node)
        lines, self.lines = self.lines, []
        return [*lines, node]

    def visit_Call(self, node):
        return self.hoisted(node)

    def visit_Subscript(self, node):
        return self.hoisted(node)

    def hoisted(self, node):
        node = self.generic_visit(node) if not is_type_word(node) else node
        if not is_operator(node):
            return node
        self.count += 1
        name = f"made_{self.count}"
        self.lines.append(ast.Assign([ast.Name(name, ast.Store())], node, lineno=0))
        return ast.Name(name, ast.Load())


def is_type_word(node):
    """annotate(List[int], ...) and the like: its first argument is a type."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("annotate", "unchecked_cast", "uninitialized")
    )


def is_operator(node):
    return (isinstance(node, ast.Call) and not is_type_word(node)) or isinstance(node, ast.Subscript)


def straightened(tree):
    """The same program, one operator a statement."""
    tree = copy.deepcopy(tree)
    forward = forward_of(tree)
    hoister = Hoister()
    body = []
    for node in forward.body:
        if isinstance(node, (ast.If, ast.For, ast.While, ast.With)):
            raise Untried("it has blocks inside")
        body += hoister.statement(node)
    forward.body = body
    return ast.fix_missing_locations(tree)


def names_made(statement):
    target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
    parts = target.elts if isinstance(target, ast.Tuple) else [target] if target is not None else []
    return [part.id for part in parts]


def returned(forward):
    value = forward.body[-1].value
    return value.elts if isinstance(value, ast.Tuple) else [value]


def give_back(forward, values):
    """Types are inferred where no annotation stands."""
    value = values[0] if len(values) == 1 else ast.Tuple(values, ast.Load()) if values else ast.Constant(None)
    forward.body[-1] = ast.Return(value)


def annotated(forward, types):
    """The importer wants the type of what is returned."""
    text = types[0] if len(types) == 1 else f"Tuple[{', '.join(types)}]" if types else "NoneType"
    forward.returns = ast.parse(text, mode="eval").body


def type_of(value):
    """Returns the type of a value as TorchScript writes it; None where it has no form here."""
    if isinstance(value, torch.Tensor):
        return "Tensor"
    if value is None:
        return "NoneType"
    if isinstance(value, (bool, int, float, str, complex)):
        return type(value).__name__
    if isinstance(value, torch.device):
        return "Device"
    parts = [type_of(part) for part in value] if isinstance(value, (list, tuple)) else [None]
    if None in parts:
        return None
    if isinstance(value, tuple):
        return f"Tuple[{', '.join(parts)}]"
    return f"List[{parts[0]}]" if len(set(parts)) == 1 else None


# ---------------------------------------------------------------- running it


def leaves(value):
    if isinstance(value, (list, tuple)):
        return [leaf for part in value for leaf in leaves(part)]
    return leaves(list(value.values())) if isinstance(value, dict) else [value]


def cloned(value):
    """Fresh, with memory shared as it was."""
    storages = {}

    def one(part):
        if isinstance(part, (list, tuple)):
            return type(part)(one(element) for element in part)
        if not isinstance(part, torch.Tensor):
            return part
        key = part.untyped_storage().data_ptr() or id(part)
        if key not in storages:
            storages[key] = part.detach().untyped_storage().clone()
        fresh = torch.empty(0, dtype=part.dtype).set_(storages[key], part.storage_offset(), part.shape, part.stride())
        return fresh.requires_grad_(part.requires_grad)

    return one(value)


class Runner:
    """A program under eager and under the backend, with the settings of the report."""

    def __init__(self, report):
        self.report = report
        self.backend = report["backend"]
        self.grad = report["grad"]
        self.calls = max(3, report["calls"])
        if self.backend not in RUNNERS and not self.backend.startswith("pass:"):
            raise Untried(f"Python has no {self.backend}")
        if self.backend.startswith("pass:") and set(self.backend[5:].split(",")) - set(PASSES):
            raise Untried(f"Python has no {self.backend}")

    def once(self, call, module, inputs):
        torch.manual_seed(self.report["seed"])
        inputs = cloned(inputs)
        autocast = torch.autocast("cpu", dtype=torch.bfloat16, enabled=bool(self.report["autocast"]))
        with torch.set_grad_enabled(self.grad):
            with autocast:
                results = leaves(call(*inputs))
            gradients = self.gradients(results, module, inputs) if self.grad else []
        parts = {"output": results, "gradient": gradients, "state": leaves(inputs)}
        return {
            where: [v.detach().clone() if isinstance(v, torch.Tensor) else v for v in part]
            for where, part in parts.items()
        }

    def gradients(self, results, module, inputs):
        losses = [torch.view_as_real(r) if r.is_complex() else r for r in results
                  if isinstance(r, torch.Tensor) and r.requires_grad]  # fmt: skip
        wanted = [p for p in [*module.parameters(), *leaves(inputs)] if isinstance(p, torch.Tensor) and p.requires_grad]
        if not losses or not wanted:
            return []
        loss = sum(part.sum() / part.numel() for part in losses)
        gradients = torch.autograd.grad(loss, wanted, allow_unused=True)
        return [torch.zeros_like(p) if g is None else g for p, g in zip(wanted, gradients)]

    def eager(self, archive, inputs, times):
        with torch.jit.optimized_execution(False):
            module = torch.jit.load(io.BytesIO(archive)).eval()
            return [self.once(module, module, inputs) for _ in range(times)]

    def optimised(self, archive, inputs):
        """One result a call, as they come."""
        module = torch.jit.load(io.BytesIO(archive)).eval()
        if self.backend.startswith("pass:"):
            yield self.once(passes(module, self.backend[5:].split(",")), module, inputs)
            return
        for call, plain in RUNNERS[self.backend](module):
            for _ in range(1 if plain else self.calls):
                with torch.jit.optimized_execution(not plain):
                    yield self.once(call, module, inputs)


def passes(module, names):
    graph = torch._C._freeze_module(module._c, [], True, True)._get_method("forward").graph.copy()
    for name in names:
        PASSES[name](graph)
    graph.eraseInput(0)
    function = torch._C._create_function_from_graph("forward", graph)

    def call(*inputs):
        with torch.jit.optimized_execution(False):
            return function(*inputs)

    return call


def allow_nnc(module):
    torch._C._jit_set_te_must_use_llvm_cpu(False)
    torch._C._jit_override_can_fuse_on_cpu(True)
    torch._C._jit_set_texpr_fuser_enabled(True)
    return module


def static_runtime(module):
    runtime = torch._C._jit_to_static_module(torch.jit.freeze(module, optimize_numerics=False)._c)
    return lambda *inputs: runtime(*inputs)


def frozen(module):
    return torch.jit.freeze(module)


# (what is called, whether the plain interpreter runs it)
RUNNERS = {
    "jit": lambda module: [(module, False)],
    "autocast": lambda module: [(module, False)],
    "nnc": lambda module: [(allow_nnc(module), False)],
    "freeze": lambda module: [(frozen(module), True)],
    "optimize-for-inference": lambda module: [(torch.jit.optimize_for_inference(frozen(module)), True)],
    "static-runtime": lambda module: [(static_runtime(module), False)],
}


# ---------------------------------------------------------------- the verdict


def sentence(error):
    """The message without what differs from program to program."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    for line in lines:
        if (
            not line.startswith(("The following", "Traceback", "File", "~", "<", "return", "def "))
            and "~~~" not in line
        ):
            if match := re.search(r"(?:RuntimeError: |Error: )?(.+)", line):
                if "<eval_with_key>" not in line and "= " not in line:
                    return re.sub(r"0x[0-9a-f]+|%[\w.]+|\b\d+\b|\[[^\]]*\]", "#", match[1])
    return type(error).__name__


def kinds_of(expected, found):
    """The kinds in which two leaves differ."""
    if not isinstance(expected, torch.Tensor) or not isinstance(found, torch.Tensor):
        if isinstance(expected, torch.Tensor) != isinstance(found, torch.Tensor):
            return {"structure"}
        return set() if expected == found or (expected != expected and found != found) else {"accuracy"}
    found = found.to_dense() if found.is_mkldnn else found
    if expected.shape != found.shape:
        return {"shape"}
    if expected.dtype != found.dtype:
        wide = torch.complex128 if expected.is_complex() or found.is_complex() else torch.float64
        # A difference by the dtype's rounding alone is no other failure.
        rounded = found.dtype if found.is_floating_point() and expected.is_floating_point() else wide
        return {"dtype"} | kinds_of(expected.to(rounded).to(wide), found.to(wide))
    if same(expected, found, tol=TOLERANCE, equal_nan=True, log_error=lambda *_, **__: None):
        return set()
    a, b = (torch.view_as_real(t.to(torch.complex128)) if t.is_complex() else t.double() for t in (expected, found))
    parts = all(torch.equal(test(a), test(b)) for test in (torch.isnan, torch.isinf))
    return {"accuracy"} if parts else {"nan"}


def differences(expected, found):
    """{(kind, where)}"""
    seen = set()
    for where in expected:
        if len(expected[where]) != len(found[where]):
            seen.add(("structure", where))
        kinds = set().union(*(kinds_of(e, f) for e, f in zip(expected[where], found[where])))
        seen |= {("gradient" if where == "gradient" and kind == "accuracy" else kind, where) for kind in kinds}
    return seen


def failures(runner, archive, inputs):
    """Every way in which it fails: (kind, where or message); nothing where eager itself cannot be relied on."""
    try:
        first, second = runner.eager(archive, inputs, 2)
    except Exception as error:
        return {("eager raises", sentence(error))}
    if differences(first, second):
        return {("eager differs", "")}
    if any(isinstance(leaf, torch.Tensor) and not torch.isfinite(leaf).all() for leaf in first["output"]):
        first["is_infinite"] = []
    try:
        for found in runner.optimised(archive, inputs):
            if seen := differences({key: first[key] for key in found}, found):
                return seen | ({("eager is infinite", "")} if "is_infinite" in first else set())
    except Exception as error:
        return {("exception", sentence(error))}
    return set()


def in_a_child(function, *arguments):
    """Returns the function's result; a crash or a hang is an answer too."""
    with tempfile.TemporaryFile() as file:
        pid = os.fork()
        if pid == 0:
            try:
                import signal

                signal.alarm(SECONDS)
                pickle.dump(function(*arguments), file)
                file.flush()
                os._exit(0)
            except BaseException:
                traceback.print_exc()
            os._exit(1)
        _, status = os.waitpid(pid, 0)
        code = os.waitstatus_to_exitcode(status)
        if code == 0:
            file.seek(0)
            return pickle.load(file)
    return {("hang", "")} if code == -14 else {("crash", f"signal {-code}")} if code < 0 else {("harness", "")}


# ---------------------------------------------------------------- deletions


class Program:
    def __init__(self, folder):
        self.archive = Archive(folder / "reduced.pt")
        self.tree = straightened(self.archive.tree)
        self.inputs = torch.load(folder / "inputs.pt", weights_only=True)
        self.report = json.loads((folder / "report.json").read_text())
        self.runner = Runner(self.report)

    def arguments(self, forward):
        return [argument.arg for argument in forward.args.args[1:]]

    def record(self):
        """{name or leaf expression: the value that eager has there first}, copied before anything can write to it."""
        tree = copy.deepcopy(self.tree)
        forward = forward_of(tree)
        names, body = [], []
        for statement in forward.body[:-1]:
            body.append(statement)
            for name in names_made(statement):
                names.append(name)
        # Each program ends behind a name and returns that: no clone has to be put in, whose schema could say too much.
        values = {}
        for name in names:
            last = next(i for i, statement in enumerate(body) if name in names_made(statement))
            cut = copy.deepcopy(self.tree)
            part = forward_of(cut)
            part.body = part.body[: last + 1] + [ast.Return(ast.Name(name, ast.Load()))]
            values[name] = self.value_of(cut, part)
        for leaf in self.attributes_and_constants():
            cut = copy.deepcopy(self.tree)
            part = forward_of(cut)
            part.body = [ast.Return(ast.parse(leaf, mode="eval").body)]
            values[leaf] = self.value_of(cut, part)
        return values

    def value_of(self, tree, forward):
        for text in ("Tensor", "List[Tensor]", "int", "float", "bool", "NoneType", "List[int]", "str", "Device",
                     "complex", "Optional[int]", "Tuple[Tensor, Tensor]", "Tuple[Tensor, Tensor, Tensor]", "number",
                     "List[float]", "List[bool]", "Optional[Tensor]"):  # fmt: skip
            forward.returns = ast.parse(text, mode="eval").body
            try:
                archive = self.archive.with_tree(ast.fix_missing_locations(tree))
                module = torch.jit.load(io.BytesIO(archive)).eval()
            except Exception:
                continue
            torch.manual_seed(self.report["seed"])
            autocast = torch.autocast("cpu", dtype=torch.bfloat16, enabled=bool(self.report["autocast"]))
            with torch.jit.optimized_execution(False), torch.set_grad_enabled(self.report["grad"]), autocast:
                value = module(*cloned(self.inputs))
            return detached(value)
        raise Untried(f"a value that Python has no type for: {ast.unparse(forward.body[-1])}")

    def attributes_and_constants(self):
        text = ast.unparse(forward_of(self.tree))
        return sorted(set(re.findall(r"\bself\.\w+\b(?!\()|\bCONSTANTS\.c\d+\b", text)))

    def written(self, tree, types):
        forward = forward_of(tree)
        annotated(forward, types)
        return self.archive.with_tree(ast.fix_missing_locations(tree))

    def whole(self, values):
        tree = copy.deepcopy(self.tree)
        return self.written(tree, self.types_returned(forward_of(tree), values)), list(self.inputs)

    def types_returned(self, forward, values):
        known = dict(zip(self.arguments(forward_of(self.tree)), self.inputs)) | values
        types = []
        for node in returned(forward):
            text = ast.unparse(node)
            value = known[text] if text in known else ast.literal_eval(text) if not isinstance(node, ast.List) else None
            kind = (
                type_of(value)
                if not isinstance(node, ast.List)
                else f"List[{type_of(known[ast.unparse(node.elts[0])])}]"
            )
            types.append(kind)
        return types

    def without_operators(self, values):
        for index, statement in enumerate(forward_of(self.tree).body[:-1]):
            if statement_is_operator(statement):
                tree = copy.deepcopy(self.tree)
                forward = forward_of(tree)
                types = self.types_returned(forward, values)
                inputs = list(self.inputs)
                del forward.body[index]
                for name in names_made(statement):
                    if reads(forward, name):
                        self.bring_back(forward, index, inputs, name, values[name])
                yield f"operator {ast.unparse(statement)}", self.written(tree, types), inputs

    def with_operators_bypassed(self, values):
        """Who reads what it made reads one of its operands instead."""
        known = dict(zip(self.arguments(forward_of(self.tree)), self.inputs)) | values
        for index, statement in enumerate(forward_of(self.tree).body[:-1]):
            made = names_made(statement)
            if not statement_is_operator(statement) or len(made) != 1 or not isinstance(values[made[0]], torch.Tensor):
                continue
            operands = {ast.unparse(node) for node in operands_of(statement.value)}
            for operand in sorted(operands):
                if isinstance(known.get(operand), torch.Tensor):
                    tree = copy.deepcopy(self.tree)
                    forward = forward_of(tree)
                    types = self.types_returned(forward, values)
                    forward.body[index] = ast.parse(f"{made[0]} = {operand}").body[0]
                    yield (
                        f"operator {ast.unparse(statement)}, {operand} in its place",
                        self.written(tree, types),
                        list(self.inputs),
                    )

    def bring_back(self, forward, index, inputs, name, value):
        """Gives `name` the value that the operator made: an argument where it holds tensors, else a literal."""
        text = type_of(value)
        if text in ("Tensor", "List[Tensor]") or (text and "Tensor" in text):
            forward.args.args.append(ast.arg(name, ast.parse(text, mode="eval").body))
            inputs.append(value)
        else:
            literal = f'torch.device("{value}")' if isinstance(value, torch.device) else repr(value)
            if isinstance(value, float) and repr(value) in ("inf", "-inf", "nan"):
                literal = f"float('{value}')"
            if value == []:
                raise Untried("an empty list")
            forward.body.insert(index, ast.parse(f"{name} = {literal}").body[0])

    def without_outputs(self, values):
        count = len(returned(forward_of(self.tree)))
        for index in range(count):
            if count == 1 and self.report["verdict"]["where"] == "output":
                continue  # what shows in an output needs one
            tree = copy.deepcopy(self.tree)
            forward = forward_of(tree)
            give_back(forward, [node for i, node in enumerate(returned(forward)) if i != index])
            yield (
                f"output {index}",
                self.written(tree, self.types_returned(forward, values) if count > 1 else []),
                list(self.inputs),
            )

    def without_inputs(self, values):
        """Leaves out an input that is not read, or reads another of its type and role in its place."""
        names = self.arguments(forward_of(self.tree))
        places = dict(zip(names, self.inputs)) | {leaf: value for leaf, value in values.items() if "." in leaf}
        for gone in places:
            if gone in names and not reads(forward_of(self.tree), gone):
                yield self.replaced(gone, None, values)
            for stays in places:
                if stays != gone and role(stays, self) == role(gone, self) and alike(places[stays], places[gone]):
                    yield self.replaced(gone, stays, values)

    def replaced(self, gone, stays, values):
        tree = copy.deepcopy(self.tree)
        forward = forward_of(tree)
        types = self.types_returned(forward, values)
        inputs = list(self.inputs)
        if stays is not None:
            forward.body = [Renamer(gone, stays).visit(node) for node in forward.body]
        names = self.arguments(forward)
        if gone in names:
            if stays is not None and inputs[names.index(gone)].requires_grad:
                if stays in names:
                    inputs[names.index(stays)] = inputs[names.index(stays)].detach().requires_grad_()
            del inputs[names.index(gone)], forward.args.args[1 + names.index(gone)]
        return f"input {gone}, {stays} in its place", self.written(tree, types), inputs

    def every_deletion(self, values):
        yield from self.without_operators(values)
        yield from self.with_operators_bypassed(values)
        yield from self.without_outputs(values)
        yield from self.without_inputs(values)


def detached(value):
    if isinstance(value, (list, tuple)):
        return type(value)(detached(part) for part in value)
    return value.detach().clone().requires_grad_(value.requires_grad) if isinstance(value, torch.Tensor) else value


def statement_is_operator(statement):
    return isinstance(statement, (ast.Assign, ast.AnnAssign, ast.Expr)) and is_operator(statement.value)


def operands_of(value):
    """Those of lists one by one."""
    parts = [*value.args, *(word.value for word in value.keywords)] if isinstance(value, ast.Call) else [value.value]
    return [part for given in parts for part in (given.elts if isinstance(given, ast.List) else [given])]


def reads(forward, name):
    return any(isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
               for statement in forward.body for node in ast.walk(statement))  # fmt: skip


class Renamer(ast.NodeTransformer):
    def __init__(self, gone, stays):
        self.gone, self.stays = gone, ast.parse(stays, mode="eval").body

    def visit_Name(self, node):
        return self.stays if node.id == self.gone and isinstance(node.ctx, ast.Load) else node

    def visit_Attribute(self, node):
        return self.stays if ast.unparse(node) == self.gone else self.generic_visit(node)


def role(leaf, program):
    if leaf.startswith("CONSTANTS."):
        return "constant"
    if not leaf.startswith("self."):
        return "argument"
    module = torch.jit.load(io.BytesIO(program.archive.with_tree(program.archive.tree)))
    return "parameter" if leaf[5:] in dict(module.named_parameters()) else "buffer"


def alike(a, b):
    return isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor) and a.dtype == b.dtype and a.shape == b.shape


def examine(folder):
    """{"deletions": how many, "still_failing": [...]}, or {"untried": why}."""
    torch.set_num_threads(1)
    try:
        program = Program(folder)
        values = program.record()
        baseline = in_a_child(failures, program.runner, *program.whole(values))
        verdict = program.report["verdict"]
        wanted = {(kind, where) for kind, where in baseline
                  if kind == verdict["kind"] and verdict["where"] in ("", where)}  # fmt: skip
        if not wanted:
            return {"untried": f"written again it fails with {sorted(baseline)}, not with {verdict['kind']}"}
        still, count = [], 0
        for what, archive, inputs in program.every_deletion(values):
            count += 1
            seen = in_a_child(failures, program.runner, archive, inputs)
            if ("harness", "") in seen:
                return {"untried": f"{what}: could not be asked"}
            infinite = ("eager is infinite", "") in seen and ("eager is infinite", "") not in baseline
            if seen & wanted and not infinite:
                still.append({"without": what, "fails": sorted(seen)})
        return {"deletions": count, "still_failing": still}
    except Untried as why:
        return {"untried": str(why)}


def main(folders):
    worst = 0
    for folder in map(Path, folders):
        answer = in_a_child(examine, folder)
        answer = answer if isinstance(answer, dict) else {"untried": str(sorted(answer))}
        print(json.dumps({"case": folder.name.removesuffix(".repro"), **answer}), flush=True)
        worst = max(worst, 1 if answer.get("still_failing") else 2 if "untried" in answer else 0, key=[0, 2, 1].index)
    return worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
