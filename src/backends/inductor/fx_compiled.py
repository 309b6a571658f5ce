"""A program compiled from a torch.fx graph that we build ourselves, callable like its module."""

import torch
from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException, FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.utils import _pytree as pytree

from fx_graph import Argument, Attribute, Output, Uncovered


class FxCompiled:
    """Compiles when it is first called, as torch.compile does, and again for inputs of other shapes or other modes."""

    def __init__(self, script, module, build, compiler):
        """`build` makes (GraphModule, template of the result) of the script, the module and the arguments; `compiler`
        makes something callable of a GraphModule and fake arguments."""
        self.script = script
        self.build = build
        self.module = module
        self.compiler = compiler
        self.entries = {}

    def __call__(self, *arguments):
        key = situation(arguments)
        if key not in self.entries:
            self.entries[key] = self.compile(arguments)
        graph, taken, template = self.entries[key]
        results = graph(*(arguments[position] for position in taken)) if graph is not None else ()

        def leaf(value):
            if isinstance(value, Output):
                return results[value.position]
            if isinstance(value, Argument):
                return arguments[value.position]
            return getattr(self.module, value.name) if isinstance(value, Attribute) else value

        return pytree.tree_map(leaf, template)

    def compile(self, arguments):
        module, template = self.build(self.script, self.module, arguments)
        if not any(node.op in ("call_function", "call_method") for node in module.graph.nodes):
            return None, [], template
        placeholders = module.graph.find_nodes(op="placeholder")
        taken = [int(node.target.removeprefix("argument_")) for node in placeholders]
        return self.made_of(module, [arguments[position] for position in taken]), taken, template

    def made_of(self, module, given):
        fake_mode, fakes = faked(given, has_values_in_shapes(module, given))
        context = torch._guards.TracingContext(fake_mode)
        with torch._dynamo.utils.preserve_rng_state(), torch._guards.tracing(context):
            try:
                return self.compiler(module, fakes)
            except (torch._dynamo.exc.SkipFrame, *torch._dynamo.exc.exceptions_allowed_to_be_fallback) as error:
                raise Uncovered(f"{type(error).__name__}: {error}") from error


class FxOfInputs(FxCompiled):
    """The same, made by a compiler that takes the inputs themselves, and no fakes of them."""

    def made_of(self, module, given):
        return self.compiler(module, given)


def faked(given, allows_values):
    """Returns a fake mode as Dynamo has it, and the tensors in it. Without a ShapeEnv no graph would be cached."""
    shapes = ShapeEnv(allow_scalar_outputs=allows_values, allow_dynamic_output_shape_ops=allows_values)
    fake_mode = FakeTensorMode(shape_env=shapes)
    return fake_mode, [fake_mode.from_tensor(tensor, static_shapes=True) for tensor in given]


class OnFakes(torch.fx.Interpreter):
    """Runs a graph on fake tensors, with the tensors that it holds as fakes too: nothing is written to them."""

    def get_attr(self, target, args, kwargs):
        held = super().get_attr(target, args, kwargs)
        fake_mode = torch._guards.detect_fake_mode()
        return fake_mode.from_tensor(held, static_shapes=True) if isinstance(held, torch.Tensor) else held


def has_values_in_shapes(module, given):
    """True if the graph itself reads numbers out of tensors, or has results whose shapes depend on them. Dynamo breaks
    a graph there unless its capture_scalar_outputs is on: in any other graph an operator that TorchInductor puts into
    it must not do so either, and one that does is an error under torch.compile."""
    fake_mode, fakes = faked(given, False)
    try:
        with torch._dynamo.utils.preserve_rng_state(), fake_mode:
            OnFakes(module).run(*fakes)
    except (DataDependentOutputException, DynamicOutputShapeException):
        return True
    except Exception:  # whatever it is, the compiler meets it too
        return False
    return False


def situation(arguments):
    """Returns as text what Dynamo would guard: the modes, and shapes and types of the tensors."""
    autocast = [
        (device, torch.is_autocast_enabled(device), torch.get_autocast_dtype(device)) for device in ("cpu", "cuda")
    ]
    tensors = [
        (a.shape, a.stride(), a.storage_offset(), a.dtype, a.device, a.requires_grad)
        for a in arguments
        if isinstance(a, torch.Tensor)
    ]
    return repr((torch.is_grad_enabled(), autocast, tensors))
