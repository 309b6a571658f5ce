"""A module as TorchScript whose nodes are the calls of its torch.fx graph (fx_call.py has their form).

The graph is run once, node by node, on copies of the inputs: what each call gives, and whether it writes to what it was
given, is seen and not looked up in a schema.
"""

from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import torch
from torch.fx.node import Node, map_arg

import fx_call
import fx_func
import fx_modes
import fx_run
import imports
from agreement import copies, difference, others_of, run
from fx_devices import Devices
from fx_inputs import NUMBERS, Inputs, Original, is_plain, tensors_in
from fx_nested import grad_in, kind_of, nested, note_kinds, result_of, take_call
from fx_source import Source, compiled
from fx_trace import graph_of
from loaded import Loaded
from refused import Refused
from traced import argument_names

LONGEST_NAME = 60
# torch.export puts one before each conversion. It computes nothing, TorchInductor drops it, and in float64 it raises.
SAYS_DTYPES = {torch.ops.aten._assert_tensor_metadata.default}


@dataclass
class Converted:
    script: Any  # torch.jit.ScriptModule
    inputs: tuple[torch.Tensor, ...]
    notes: list[str]
    left_out: int  # results that are no tensors


def names_of(graph: torch.fx.Graph, inputs: Inputs) -> dict[Node, str]:
    """Identifiers, those of the inputs as they are wanted; of what stays an attribute `self.NAME`."""
    wanted = {given.node: given.name for given in [*inputs.all, *inputs.held]}
    wanted |= {node: node.name for node in graph.nodes if node not in wanted and node not in inputs.bound}
    names = dict(zip(wanted, argument_names([name[:LONGEST_NAME] for name in wanted.values()], len(wanted))))
    for given in inputs.held:
        name = names[given.node]
        names[given.node] = "self." + name + "_" * hasattr(torch.jit.ScriptModule, name)
    return names


def refuse_what_is_registered_from_python(name: str) -> None:
    """Raises NoForm for an operator that a process has only once the user's own Python has run."""
    words = name.split(".")
    if words[:2] != ["torch", "ops"] or len(words) < 4 or words[2] in ("aten", "prims", "inductor"):
        return
    operator = f"{words[2]}::{words[3]}"
    if operator in imports.registered() - imports.operators:
        raise fx_call.NoForm(
            f"{operator}, an operator that is registered from Python; --import names the module that does it"
        )


def refuse_inductors_random_numbers(name: str) -> None:
    """Raises NoForm for an operator that TorchInductor puts into a graph before it is lowered: of its own generator,
    from which eager draws other numbers."""
    if name.startswith("torch.ops.prims.inductor_") and ("seed" in name or "rand" in name):
        raise fx_call.NoForm("random numbers of TorchInductor's own generator")


class Observer:
    """Runs the graph, and writes each of its calls down as source."""

    def __init__(self, loaded: Loaded, devices: Devices, holds: bool) -> None:
        self.module = loaded.module
        self.graph = graph_of(loaded.module)
        devices.move(self.graph)
        self.inputs = Inputs(loaded, self.graph, holds)
        self.bound = self.inputs.bound
        self.notes = [*self.inputs.notes]
        self.values: dict[Node, Any] = {}
        self.done: set[Node] = set()
        self.source = Source(names_of(self.graph, self.inputs), self.values)
        self.switched = fx_modes.Switched(loaded.grad)

    def observe(self, tensors: tuple[torch.Tensor, ...]) -> None:
        self.values.update(zip(self.inputs.nodes(), tensors))
        for node in self.graph.nodes:
            node.args = map_arg(node.args, self.constant_of)
            node.kwargs = map_arg(node.kwargs, self.constant_of)
            if node.op == "get_attr" and node not in self.values:
                self.values[node] = value = attrgetter(node.target)(self.module)
                if isinstance(value, torch.nn.Module):
                    self.bound[node] = nested(value, grad_in(node, self.switched.grad))
            elif node.op.startswith("call_"):
                self.call(node)
            self.release(node)

    def release(self, node: Node) -> None:
        """Gives up the data of what is not used after this node: large models have more than fits."""
        self.done.add(node)
        for given in node.all_input_nodes if node.op != "output" else ():
            if isinstance(self.values.get(given), torch.Tensor) and self.done.issuperset(given.users):
                self.values[given] = torch.empty(0)

    def constant_of(self, node: Node) -> Any:
        return self.bound.get(node, node)

    def call(self, node: Node) -> None:
        take_call(node, self.switched)
        if "modes" not in node.meta or node.target in SAYS_DTYPES:
            return
        found, part = self.source.part(node)
        if found:
            self.keep_part(node, part)
            return
        try:
            result, writes = self.result_of(node)
            if self.is_constant(node, result):
                return
            node.meta["parts"] = fx_call.parts_of(result)
            note_kinds(node, self.values)
            text, operands = fx_call.encode(node)
            if node.op == "call_function":
                refuse_what_is_registered_from_python(fx_call.name_of(node.target))
                refuse_inductors_random_numbers(fx_call.name_of(node.target))
            kind = kind_of(result, writes)
        except fx_call.NoForm as error:
            raise Refused(f"cannot be converted: the call {node.name} has no form here: {error}") from error
        self.values[node] = result
        self.source.call(node, kind, text, operands)

    def keep_part(self, node: Node, part: Any) -> None:
        """Keeps a part of a result. One that is no tensor is a constant."""
        self.values[node] = part
        if not tensors_in(part) and part != []:
            self.bound[node] = part

    def result_of(self, node: Node) -> tuple[Any, bool]:
        try:
            found: tuple[Any, bool] = result_of(node, self.values)
            return found
        except Exception as error:
            text = " ".join(str(error).split())[:300]
            raise Refused(f"raises in eager already, at {node.name}: {type(error).__name__}: {text}") from error

    def is_constant(self, node: Node, result: Any) -> bool:
        """Binds what is no value of a graph: sizes, dtypes, and numbers that nothing in the graph decides."""
        if result is None or not is_plain(result) or isinstance(result, NUMBERS) and node.all_input_nodes:
            return False
        if not isinstance(result, (torch.Size, *NUMBERS)) and isinstance(result, (list, tuple)) and not result:
            return False
        if node.all_input_nodes:
            shown = tuple(result) if isinstance(result, torch.Size) else result
            self.notes.append(f"{node.name} is {shown!r} as with these inputs, a constant of the program")
        self.bound[node] = result
        return True

    def held(self) -> dict[str, torch.Tensor]:
        """Returns the attributes of the program."""
        return {self.source.words[given.node].removeprefix("self."): given.tensor for given in self.inputs.held}

    def results(self) -> tuple[list[str], bool, int]:
        """Returns the results as source, whether the only one is returned itself, and how many are no tensors."""
        (output,) = (node for node in self.graph.nodes if node.op == "output")
        words: list[str] = []
        left_out = 0
        for leaf in torch.utils._pytree.tree_leaves(output.args[0]):
            value = self.values.get(leaf) if isinstance(leaf, Node) else leaf
            if isinstance(value, torch.Tensor):
                words.append(self.source.operand(leaf))
            elif isinstance(value, (list, tuple)) and tensors_in(value):
                words += [f"{self.source.operand(leaf)}[{i}]" for i in range(len(value))]
            else:
                left_out += leaf is not None
        return words, isinstance(output.args[0], Node) and len(words) == 1, left_out


def observed(loaded: Loaded, grad: bool, devices: Devices, holds: bool) -> tuple[Observer, list[int]]:
    """Returns the observer of one run, and the positions of the inputs that the run writes to. `holds`: attributes stay
    attributes, unless the run writes to one."""
    observer = Observer(loaded, devices, holds)
    mine = copies(tuple(given.tensor for given in [*observer.inputs.all, *observer.inputs.held]))
    before = [tensor._version for tensor in mine]
    with torch.random.fork_rng(), torch.set_grad_enabled(grad):
        torch.manual_seed(0)
        observer.observe(mine)
    written = [i for i, tensor in enumerate(mine) if tensor._version != before[i]]
    if written and written[-1] >= len(observer.inputs.all):
        return observed(loaded, grad, devices, False)
    return observer, written


def differentiates(module: torch.nn.Module, graph: torch.fx.Graph) -> bool:
    """True where the graph, or one that it runs, has a level of torch.func that wants gradients enabled."""
    inside = [child.graph for child in module.modules() if isinstance(child, torch.fx.GraphModule)]
    return any(node.target in fx_func.WITH_GRADIENTS for one in [graph, *inside] for node in one.nodes)


def convert(loaded: Loaded, holds: bool = False) -> Converted:
    """Raises Refused where a call has no form, and where what was made does not do what the module does. `holds`:
    parameters, buffers and constants stay attributes, and are no further inputs."""
    with Devices() as devices:
        made = converted(loaded, devices, holds)
    made.notes += devices.notes
    return made


def converted(loaded: Loaded, devices: Devices, holds: bool) -> Converted:
    inputs_want_gradients = any(tensor.requires_grad for tensor in tensors_in(loaded.args))
    grad = loaded.grad and inputs_want_gradients
    try:
        observer, written = observed(loaded, grad, devices, holds)
    except Refused:
        if not grad:
            raise
        grad = False
        observer, written = observed(loaded, grad, devices, holds)
        observer.notes.append("with gradients it raises, so that what its calls do was seen without")
    names = [observer.source.words[given.node] for given in observer.inputs.all]
    results, alone, left_out = observer.results()
    notes = observer.notes
    original: Any = original_of(observer, loaded)
    if not results:
        if not written:
            raise Refused("returns no tensor and writes to no input, so that there is nothing to compare")
        results, original = [names[i] for i in written], with_written(original, written)
        notes.append("it returns no tensors: the inputs that it writes to are its results")
    script = compiled(observer.source.text(names, results, alone), observer.held())
    inputs = tuple(given.tensor for given in observer.inputs.all)
    doubt = require_agreement(original, script, inputs, grad)
    return Converted(script, inputs, notes + [doubt] * bool(doubt), left_out)


def original_of(observer: Observer, loaded: Loaded) -> Any:
    """Returns the module as a function of the inputs. What it holds asks for no gradients, as in the program."""
    inputs = observer.inputs
    whole = Original(loaded, [*inputs.all, *inputs.held], differentiates(loaded.module, observer.graph))
    held = [given.tensor.detach() for given in inputs.held]
    return lambda *tensors: whole(*tensors, *held)


def with_written(original: Any, written: list[int]) -> Any:
    def call(*tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        original(*tensors)
        return tuple(tensors[i] for i in written)

    return call


def require_agreement(original: Any, script: Any, inputs: tuple[torch.Tensor, ...], grad: bool) -> str:
    """Raises Refused where they differ. Returns a sentence on what is not sure, or an empty text."""

    def ours(*tensors: torch.Tensor) -> Any:
        return fx_run.run(script, tensors)

    with torch.random.fork_rng():
        theirs, again = (run(original, inputs, [], grad) for _ in range(2))
        if difference(theirs, again):
            return "the original differs from itself when it is run twice, so that the conversion could not be checked"
        if found := difference(run(ours, inputs, [], grad), theirs):
            raise Refused(f"cannot be converted: as a graph of calls, {found}")
        others = others_of(inputs)
        try:
            expected = run(original, others, [], grad)
        except Exception:
            return ""  # it takes no others
        try:
            found = difference(run(ours, others, [], grad), expected)
        except Exception:
            found = "it raises"
    return "what its data decides (a branch, a number) is as these inputs have it" if found else ""
