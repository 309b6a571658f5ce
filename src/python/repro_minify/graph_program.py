"""A graph of torch.fx as a program: Python source that a person can read and run, and its data beside it."""

from __future__ import annotations

import ast
import copy
import importlib
import keyword
import re
import textwrap
from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any

import torch
from torch._dynamo import utils

from .errors import CannotTrace, first_line
from .graphs import Graph

MARK = "# repro-minify: a program of torch.fx"
GIVEN_UP = re.compile(r";  (?:[A-Za-z_]\w* = )+None$", re.MULTILINE)  # torch.fx's own, to free memory
WORDS_OF_DYNAMO = {"L", "G", "self", "modules", "parameters", "buffers"}
ROOT = re.compile(r"[LG]_\w+?_(?=(modules|parameters|buffers)_)", re.ASCII)  # the variable that holds the module
MOST_NUMBERS = 64  # of a tensor in a nested graph
NAMES_IN_USE = {"self", "torch", "Path", "load_args", "run", "run_repro", "Repro"}
OF_PYTHON = {"from math import inf", "from math import nan", "from types import NoneType"}

PROGRAM = '''\
{mark}
"""A graph that Dynamo made. `python {name}` says whether it gives the same under TorchInductor as in eager."""

{imports}

torch.set_grad_enabled({grad})
{dtype}

{classes}


def load_args(device=None):
    return torch.load(Path(__file__).with_name("{data}"), map_location=device, weights_only=True)


def run(call):
    """Returns what the call gives, what it leaves in its arguments, and gradients."""
    arguments = load_args()
    wanted = [x for x in arguments if isinstance(x, torch.Tensor) and x.requires_grad and torch.is_grad_enabled()]
    given = [x.clone() if any(x is one for one in wanted) else x for x in arguments]
    torch.manual_seed(0)
    results = [x for x in torch.utils._pytree.tree_leaves(call(*given)) if isinstance(x, torch.Tensor)]
    found = results + [x for x in given if isinstance(x, torch.Tensor)]
    sources = [x for x in results if x.requires_grad]
    if wanted and sources:
        gradients = torch.autograd.grad(sources, wanted, [torch.ones_like(x) for x in sources], allow_unused=True)
        found += [x for x in gradients if x is not None]
    return [x.detach() for x in found]


def run_repro():
    from torch._dynamo.utils import same

    expected = run(Repro())
    try:
        found = run(torch.compile(Repro(), backend="inductor"))
    except Exception as error:
        return f"fails: it raises {{type(error).__name__}}: {{' '.join(str(error).split())[:200]}}"
    for i, (a, b) in enumerate(zip(expected, found), start=1):
        if not same(a, b, tol=1e-3, equal_nan=True):
            return f"fails: value {{i}} of {{len(expected)}} is another than in eager (float64 was not asked)"
    return ""


if __name__ == "__main__":
    problem = run_repro()
    print(problem or "it gives the same under TorchInductor as in eager")
    sys.exit(bool(problem))
'''


def readable(target: str) -> str:
    """`L_self_modules_stem_parameters_weight_` is stem_weight, and `L_model_parameters_w_` is w."""
    target = target[found.end() :] if (found := ROOT.match(target)) else target
    words = [word for word in re.split(r"[\W_]+", target, flags=re.ASCII) if word and word not in WORDS_OF_DYNAMO]
    name = "_".join(words) or "x"
    return f"x_{name}" if name[0].isdigit() or keyword.iskeyword(name) or name in NAMES_IN_USE else name


def placeholder(graph: torch.fx.Graph, target: str) -> torch.fx.Node:
    """One more argument, of a name that no other has."""
    node = graph.placeholder(readable(target))
    node.target = node.name
    return node


def with_attributes_as_arguments(module: torch.fx.GraphModule) -> tuple[torch.fx.Graph, list[torch.Tensor]]:
    """Returns the graph with readable names and tensors that are attributes as further arguments, and those tensors."""
    graph, renamed, tensors = torch.fx.Graph(), {}, {}
    for node in module.graph.nodes:
        if node.op == "placeholder":
            renamed[node] = placeholder(graph, str(node.target))
    for node in module.graph.nodes:
        if node.op == "get_attr" and isinstance(value := attrgetter(str(node.target))(module), torch.Tensor):
            if node.target not in tensors:
                tensors[node.target] = (placeholder(graph, str(node.target)), value)
            renamed[node] = tensors[node.target][0]
    graph.output(graph.graph_copy(module.graph, renamed))
    for node in graph.nodes:
        node.type = None
    return graph, [value for _, value in tensors.values()]


def with_small_tensors_written(module: torch.fx.GraphModule) -> torch.fx.GraphModule:
    """The same, where small tensors that are its attributes are made by calls: a nested graph has no arguments for
    them."""
    made = copy.deepcopy(module)
    for node in made.graph.find_nodes(op="get_attr"):
        value = attrgetter(str(node.target))(made)
        if isinstance(value, torch.Tensor) and value.numel() <= MOST_NUMBERS:
            how = {"dtype": value.dtype, "device": value.device}
            with made.graph.inserting_before(node):
                node.replace_all_uses_with(made.graph.call_function(torch.tensor, (value.tolist(),), how))
            made.graph.erase_node(node)
    return made


def children_of(module: torch.fx.GraphModule, graph: torch.fx.Graph) -> dict[str, torch.fx.GraphModule]:
    """The graphs that a higher-order operator is given."""
    names = [str(node.target) for node in graph.nodes if node.op == "get_attr"]
    values = {name: attrgetter(name)(module) for name in names}
    return {name: value for name, value in values.items() if isinstance(value, torch.fx.GraphModule)}


INTERPRETED = {"tag_activation_checkpoint", "autograd_function_apply"}
"""Higher-order operators that look at the graph of what they run."""


def instance_of(graph: torch.fx.Graph, child: str, name: str) -> str:
    """Returns what makes a nested module of the class of that name."""
    (holder, *_) = (node for node in graph.nodes if node.op == "get_attr" and node.target == child)
    users = {getattr(user.target, "__name__", "") for user in holder.users}
    return f"torch.fx.symbolic_trace({name}())" if users & INTERPRETED else f"{name}()"


def made_of_numpys(value: Any) -> str:
    """Returns the text of an object that Dynamo calls in the place of a function of NumPy's; empty for another."""

    if isinstance(value, utils.numpy_method_wrapper):
        return f"torch._dynamo.utils.numpy_method_wrapper({value.method!r})"
    if isinstance(value, utils.numpy_operator_wrapper):
        return f"torch._dynamo.utils.numpy_operator_wrapper(getattr(__import__('operator'), {value.op.__name__!r}))"
    if isinstance(value, utils.numpy_to_tensor_wrapper):
        for place in ("torch._numpy", "torch._numpy.linalg", "torch._numpy.fft", "torch._numpy.random"):
            name = getattr(value.f, "__name__", "")
            if getattr(importlib.import_module(place), name, None) is value.f:
                return f"torch._dynamo.utils.numpy_to_tensor_wrapper({place}.{name})"
    return ""


def differentiates(module: torch.fx.GraphModule) -> bool:
    """True if it enters a level of torch.func that wants gradients enabled around it."""
    return any(node.target is torch._C._functorch._grad_increment_nesting for node in module.graph.nodes)


def with_sizes_read(graph: Graph) -> Graph:
    """The same, where a size that it is given, which was symbolic, is read of the input that has it."""
    module, args = copy.deepcopy(graph.module), list(graph.args)
    placeholders = module.graph.find_nodes(op="placeholder")
    places: dict[str, tuple[torch.fx.Node, int]] = {}
    for node in placeholders:
        example = node.meta.get("example_value")
        for dim, size in enumerate(example.shape if isinstance(example, torch.Tensor) else ()):
            places.setdefault(str(size), (node, dim))
    for at, node in reversed(list(enumerate(placeholders))):
        example = node.meta.get("example_value")
        if isinstance(example, torch.SymInt) and str(example) in places and at < len(args):
            with module.graph.inserting_after(placeholders[-1]):
                node.replace_all_uses_with(module.graph.call_method("size", places[str(example)]))
            module.graph.erase_node(node)
            del args[at]
            placeholders.remove(node)
    return Graph(module, tuple(args))


class Writer:
    """Collects the classes and imports of a program; `problem` says why another process cannot run it."""

    def __init__(self) -> None:
        self.classes: list[str] = []
        self.imports: set[str] = set()
        self.problem = ""

    def add_class(self, name: str, module: torch.fx.GraphModule) -> list[torch.Tensor]:
        """Returns the tensors that are further arguments."""
        graph, tensors = with_attributes_as_arguments(module)
        made = []
        for child, inner in children_of(module, graph).items():
            its_class = f"{name}_{child.replace('.', '_')}"
            made.append(f"self.{child} = {instance_of(graph, child, its_class)}")
            if self.add_class(its_class, with_small_tensors_written(inner)):
                raise CannotTrace(f"{child} has large tensors of its own")
        if any(str(node.target).startswith("triton_kernel_wrapper") for node in graph.nodes):
            self.problem = "it launches a Triton kernel of the user's own, which no other process can find"
        if any(getattr(node.target, "namespace", "") == "prims" for node in graph.nodes):
            self.imports.add("import torch._inductor.inductor_prims")  # it registers them
        code = graph.python_code("self")
        source = GIVEN_UP.sub("", code.src.strip())
        self.add_imports(source, code.globals)
        begin = "def __init__(self):\n    super().__init__()\n" + textwrap.indent("\n".join(made), "    ") + "\n\n"
        body = textwrap.indent((begin if made else "") + source, "    ")
        self.classes.append(f"class {name}(torch.nn.Module):\n{body}")
        return tensors

    def add_imports(self, source: str, known: dict[str, Any]) -> None:
        used = {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
        for name in sorted(used & known.keys() - {"torch", "getattr"}):
            if name in ("inf", "nan"):
                self.imports.add(f"from math import {name}")
            elif name == "NoneType":
                self.imports.add("from types import NoneType")
            else:
                self.imports.add(self.import_of(name, known[name]))

    def import_of(self, name: str, value: Any) -> str:
        """Returns the line that gives `value` this name."""
        home, inner = getattr(value, "__module__", None), getattr(value, "__qualname__", "")
        try:
            found = attrgetter(inner)(importlib.import_module(str(home)))
        except (ImportError, AttributeError):
            found = None
        if found is not value or home == "__main__":
            if made := made_of_numpys(value):
                return f"import torch._dynamo.utils\nimport torch._numpy\n{name} = {made}"
            self.problem = f"it calls {inner or name}, which cannot be imported by a name"
            return f"# {name}: {self.problem}"
        outer, _, last = f"{home}.{inner}".rpartition(".")
        renamed = last if last == name else f"{last} as {name}"
        return f"from {outer} import {renamed}" if outer == home else f"import {home}\n{name} = {home}.{inner}"

    def text(self, name: str, data: str, grad: bool) -> str:
        said = sorted(line for line in self.imports if line.startswith("#"))
        own = {"import sys", "from pathlib import Path", *(self.imports & OF_PYTHON)}
        other = {"import torch", *self.imports} - OF_PYTHON - set(said)
        dtype = torch.get_default_dtype()
        imports = "\n".join([*sorted(own, key=lambda line: (line.startswith("from"), line)), "", *sorted(other), *said])
        return PROGRAM.format(
            mark=MARK,
            name=name,
            data=data,
            grad=grad,
            dtype="" if dtype is torch.float32 else f"torch.set_default_dtype({dtype})\n",
            imports=imports,
            classes="\n\n\n".join(self.classes),
        )


def save_graph(graph: Graph, path: Path, grad: bool, modules: Sequence[str] = ()) -> str:
    """Writes the program, and its data beside it: data-2.pt for program-2.py. `modules` are lines that import what
    registers its operators. Returns why another process cannot run it, or an empty text. Raises CannotTrace where there
    is no such source or data."""
    data = path.with_name(path.stem.replace("program", "data") + ".pt")
    writer, graph = Writer(), with_sizes_read(graph)
    try:
        tensors = writer.add_class("Repro", graph.module)
        writer.imports.update(modules)
        text = writer.text(path.name, data.name, grad or differentiates(graph.module))
        ast.parse(text)
        torch.save([*graph.args, *(tensor.detach() for tensor in tensors)], data)
        torch.load(data, weights_only=True)
    except CannotTrace:
        raise
    except Exception as error:
        raise CannotTrace(f"{path.name} cannot be written: {first_line(error)}") from error
    path.write_text(text, encoding="utf-8")
    return writer.problem
