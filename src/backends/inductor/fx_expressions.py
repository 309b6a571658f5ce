"""One call of torch.fx as an expression of Python's grammar: operators, subscripts, methods and functions as they are
typed by hand."""

import ast
import builtins
import sys
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.fx import Node

import fx_aten
import fx_effects
import fx_numpy
import fx_signatures
import fx_users_calls
import tensor_text
from fx_call import NoForm, name_of
from fx_names import is_name
from fx_signatures import Arguments

BINARY: dict[str, ast.operator] = {
    "add": ast.Add(), "sub": ast.Sub(), "mul": ast.Mult(), "truediv": ast.Div(), "floordiv": ast.FloorDiv(),
    "mod": ast.Mod(), "pow": ast.Pow(), "matmul": ast.MatMult(), "and": ast.BitAnd(), "or": ast.BitOr(),
    "xor": ast.BitXor(), "lshift": ast.LShift(), "rshift": ast.RShift(),
}  # fmt: skip
UNARY: dict[str, ast.unaryop] = {"neg": ast.USub(), "invert": ast.Invert(), "pos": ast.UAdd(), "not": ast.Not()}
COMPARED: dict[str, ast.cmpop] = {
    "eq": ast.Eq(), "ne": ast.NotEq(), "lt": ast.Lt(), "le": ast.LtE(), "gt": ast.Gt(), "ge": ast.GtE(),
    "is": ast.Is(), "is_not": ast.IsNot(),
}  # fmt: skip
# Functions of torch, and overloads of ATen, that are an operator where one of their first arguments is a tensor.
TORCH_OPERATORS = {
    "add": "add", "sub": "sub", "subtract": "sub", "mul": "mul", "multiply": "mul", "div": "truediv",
    "true_divide": "truediv", "divide": "truediv", "matmul": "matmul", "pow": "pow", "remainder": "mod",
    "floor_divide": "floordiv", "bitwise_and": "and", "bitwise_or": "or", "bitwise_xor": "xor", "neg": "neg",
    "negative": "neg", "bitwise_not": "invert", "eq": "eq", "ne": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge",
    "__and__": "and", "__or__": "or", "__xor__": "xor", "__lshift__": "lshift", "__rshift__": "rshift",
}  # fmt: skip
OVERLOADS = {"default", "Tensor", "Scalar", "Tensor_Tensor", "Tensor_Scalar"}
ONE_SHAPE = {
    "view", "reshape", "permute", "expand", "repeat", "tile", "flip", "new_zeros", "new_ones", "new_empty",
}  # fmt: skip
SHAPED = {"torch.zeros", "torch.ones", "torch.empty", "torch.rand", "torch.randn"}
ATTRIBUTES = {"aten.numpy_T": "T", "aten.matrix_H": "H", "aten.mT": "mT", "aten.mH": "mH"}  # Dynamo's, from 2.15 on
LAST = sys.maxsize  # the end of a slice in ATen that ends where the tensor does
Place = Callable[[Node], ast.expr]


def of_array(made: ast.expr) -> ast.Call:
    """A tensor made of an array of NumPy's."""
    return call("torch.as_tensor", [made])


class Expressions:
    """`place` gives the text of a value that a call uses: its name, or the expression that makes it."""

    def __init__(self, place: Place, numbers: fx_effects.Numbers) -> None:
        self.place = place
        self.numbers = numbers
        self.modules: set[str] = set()

    def value(self, value: Any) -> ast.expr:
        """An argument. Raises NoForm for one that has no literal."""
        if isinstance(value, Node):
            return self.place(value)
        if value is None or value is ... or type(value) in (bool, str):
            return ast.Constant(value)
        if type(value) in (int, float, complex):
            return number(value)
        if type(value) in (tuple, torch.Size):
            return ast.Tuple([self.value(part) for part in value], ast.Load())
        if isinstance(value, list):
            return ast.List([self.value(part) for part in value], ast.Load())
        if isinstance(value, dict):
            return ast.Dict([self.value(key) for key in value], [self.value(part) for part in value.values()])
        if isinstance(value, slice):
            return call("slice", [self.value(part) for part in (value.start, value.stop, value.step)])
        if isinstance(value, (torch.dtype, torch.layout, torch.memory_format)):
            return dotted(str(value))
        if isinstance(value, torch.device):
            return call("torch.device", [ast.Constant(str(value))])
        raise NoForm(f"an argument of type {type(value).__name__}")

    def index(self, index: Any) -> ast.expr:
        """An index, where slices are written with colons."""
        if isinstance(index, tuple) and index:
            return ast.Tuple([self.index(part) for part in index], ast.Load())
        if not isinstance(index, slice):
            return self.value(index)
        parts = [None if part is None else self.value(part) for part in (index.start, index.stop, index.step)]
        return ast.Slice(*parts)

    def subscript(self, value: Any, index: Any) -> ast.Subscript:
        return ast.Subscript(self.value(value), self.index(index), ast.Load())

    def made_by(self, node: Node) -> ast.expr:
        """The expression that a node stands for. Raises NoForm."""
        arguments: Arguments = (node.args, dict(node.kwargs))
        if node.op == "call_method":
            return self.method(str(node.target), arguments)
        if node.op != "call_function":
            raise NoForm(f"a node of the kind {node.op}")
        target: Any = node.target
        if name := ATTRIBUTES.get(str(target).removesuffix(".default")):
            return ast.Attribute(self.value(node.args[0]), name, ast.Load())
        if isinstance(target, torch._ops.OpOverload):
            return self.overload(target, arguments)
        if name := fx_users_calls.operator_name(node):
            return self.higher_order(node, name)
        if target is fx_numpy.attribute:
            inner = Expressions(self.as_array, self.numbers)
            made = ast.Attribute(inner.value(node.args[0]), str(node.args[1]), ast.Load())
            return of_array(made)
        if name := fx_numpy.name_of(target):
            return self.numpy(name, arguments)
        module, name = getattr(target, "__module__", None), getattr(target, "__name__", "")
        if module == "_operator":
            written = self.operator(name, node.args)
            if written is not None:
                return written
        if target is builtins.getattr and len(node.args) == 2 and is_name(node.args[1]):
            return ast.Attribute(self.value(node.args[0]), str(node.args[1]), ast.Load())
        if name == "_get_data_attr" and len(node.args) == 1:
            return ast.Attribute(self.value(node.args[0]), "data", ast.Load())
        if fx_effects.is_builtin(target):
            written = self.torch_operator(name, arguments)
            if written is not None:
                return written
        return self.function(target, arguments)

    def operator(self, name: str, args: tuple[Any, ...]) -> ast.expr | None:
        name = name.rstrip("_")
        if name == "getitem":
            return self.item(args[0], args[1])
        if name == "abs":
            return call("abs", [self.value(args[0])])
        if name == "imatmul":  # tensors have none: it gives a new one
            name = "matmul"
        if name in fx_effects.IN_PLACE and self.numbers.has(args[0]):
            name = name[1:]
        if name in BINARY:
            return ast.BinOp(self.value(args[0]), BINARY[name], self.value(args[1]))
        if name in COMPARED:
            return ast.Compare(self.value(args[0]), [COMPARED[name]], [self.value(args[1])])
        if name in UNARY:
            return ast.UnaryOp(UNARY[name], self.value(args[0]))
        return None

    def item(self, value: Any, index: Any) -> ast.expr:
        """A part of a value, by its name where the call that makes the value has named results."""
        names = named_results(value) if isinstance(value, Node) and type(index) is int else ()
        if index in range(len(names)):
            return ast.Attribute(self.value(value), names[index], ast.Load())
        return self.subscript(value, index)

    def higher_order(self, node: Node, name: str) -> ast.expr:
        if not fx_users_calls.bodies_of(node):
            raise NoForm(f"the higher-order operator {name} without its graphs")
        if name == fx_users_calls.AUTOGRAD:
            forward, _, *args = node.args
            return self.call(ast.Attribute(self.value(forward), "apply", ast.Load()), tuple(args), {})
        called: fx_users_calls.UsersCall = node.meta["called"]
        self.modules |= {called.module} - {""}
        function = dotted(called.function)
        if called.made_by is not None:
            function = self.call(function, *called.made_by)
        if called.part is not None:
            function = ast.Subscript(function, number(called.part), ast.Load())
        return self.call(function, called.args, called.kwargs)

    def numpy(self, name: str, arguments: Arguments) -> ast.expr:
        """A call of NumPy's between tensors."""
        kind, _, name = name.partition(".")
        inner = Expressions(self.as_array, self.numbers)
        args, kwargs = arguments
        if kind == "operator" and name in BINARY:
            made: ast.expr = ast.BinOp(inner.value(args[0]), BINARY[name], inner.value(args[1]))
        elif kind == "method" and name == "__getitem__":
            made = inner.subscript(args[0], args[1])
        elif kind == "method":
            made = inner.call(ast.Attribute(inner.value(args[0]), name, ast.Load()), args[1:], kwargs)
        elif kind == "function":
            made = inner.call(dotted(f"np.{name}"), args, kwargs)
        elif kind == "operator" and (written := inner.operator(name, args)) is not None:
            made = written
        else:
            raise NoForm(f"NumPy's operator {name}")
        return made if name == "__setitem__" else of_array(made)

    def as_array(self, node: Node) -> ast.expr:
        tree = self.place(node)
        if isinstance(tree, ast.Call) and fx_numpy.is_one(node.target):
            return tree.args[0]
        return tree if self.numbers.has(node) else ast.Call(ast.Attribute(tree, "numpy", ast.Load()), [], [])

    def torch_operator(self, name: str, arguments: Arguments) -> ast.expr | None:
        """An operator in the place of a function that does the same; None where it does more."""
        args, kwargs = arguments
        if kwargs.get("alpha") == 1 and name in ("add", "sub", "subtract", "rsub"):
            kwargs = {key: value for key, value in kwargs.items() if key != "alpha"}
        wanted = TORCH_OPERATORS.get(name)
        tensors = [isinstance(arg, Node) and not self.numbers.has(arg) for arg in args]
        if kwargs or not any(tensors) or not tensors[0] and wanted != "pow":
            return None  # a number divided by a tensor, as an operator, is not the same to the last bit
        if name == "rsub" and len(args) == 2:
            return ast.BinOp(self.value(args[1]), ast.Sub(), self.value(args[0]))
        if wanted is None or len(args) != (1 if wanted in UNARY else 2):
            return None
        return self.operator(wanted, args)

    def method(self, name: str, arguments: Arguments) -> ast.expr:
        args, kwargs = arguments
        if not is_name(name) or not args:
            raise NoForm(f"a method of the name {name!r}")
        written = self.torch_operator(name, arguments)
        if written is not None:
            return written
        tidied = fx_signatures.tidy(arguments, fx_signatures.of_operator(name), name)
        if tidied[0] and tidied[0][0] is args[0]:
            args, kwargs = tidied
        return self.called_on(name, args, kwargs)

    def called_on(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> ast.expr:
        """A method of the first argument."""
        own, *rest = args
        if name in ("to", "view") and not rest and list(kwargs) == ["dtype"]:
            rest, kwargs = [kwargs["dtype"]], {}
        if name in ONE_SHAPE:
            rest = one_by_one(rest)
        return self.call(ast.Attribute(self.value(own), name, ast.Load()), tuple(rest), kwargs)

    def function(self, target: Any, arguments: Arguments) -> ast.expr:
        name = public_name(target)
        module = str(getattr(target, "__module__", ""))
        module = "operator" if module == "_operator" else module
        if name.startswith(module + "."):
            self.modules.add("torch" if module.startswith("torch.") else module)
        signatures = fx_signatures.of_function(target)
        return self.named(name, *fx_signatures.tidy(arguments, signatures, name.split(".")[-1]))

    def named(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> ast.expr:
        """A function by its public name."""
        if name == "torch.arange":
            args, kwargs = without_start(args, kwargs)
        if name in SHAPED:
            args = tuple(one_by_one(list(args)))
        return self.call(dotted(name), args, kwargs)

    def call(self, function: ast.expr, args: tuple[Any, ...], kwargs: dict[str, Any]) -> ast.expr:
        named = []
        for name, value in kwargs.items():
            if not is_name(name):
                raise NoForm(f"an argument of the name {name!r}")
            named.append(ast.keyword(name, self.device_or_value(value)))
        return ast.Call(function, [self.device_or_value(arg) for arg in args], named)

    def device_or_value(self, value: Any) -> ast.expr:
        return ast.Constant(str(value)) if isinstance(value, torch.device) else self.value(value)

    def overload(self, target: torch._ops.OpOverload, arguments: Arguments) -> ast.expr:
        """An overload as users call it; as it is where none of their calls is sure to be the same."""
        if target.namespace == "aten":
            return self.aten_overload(target, arguments)
        only = target._overloadname == "default" and target.overloadpacket.overloads() == ["default"]
        return self.named_overload(str(target).removesuffix(".default") if only else str(target), arguments)

    def aten_overload(self, target: torch._ops.OpOverload, arguments: Arguments) -> ast.expr:
        called, arguments = fx_aten.as_users_call(target, arguments)
        if not isinstance(called, torch._ops.OpOverload):
            return self.function(called, arguments)
        args, kwargs = arguments
        written = None
        if called._overloadname in OVERLOADS:
            written = self.torch_operator(called._schema.name.split("::")[1], arguments)
        if written is None and not kwargs:
            written = self.indexing(str(called), args)
        if written is not None:
            return written
        form = fx_signatures.public_form(called, arguments)
        return self.public(form, called, arguments) if form else self.named_overload(str(called), arguments)

    def named_overload(self, name: str, arguments: Arguments) -> ast.expr:
        """A call by the name in torch.ops. Raises NoForm where that is no name in Python."""
        args, kwargs = arguments
        words = name.split(".")
        if not all(word.isidentifier() and word.isascii() for word in words):
            raise NoForm(f"the operator {name}")
        keywords = [ast.keyword(key, self.value(value)) for key, value in kwargs.items()]
        return ast.Call(dotted(f"torch.ops.{name}"), [self.value(arg) for arg in args], keywords)

    def public(self, form: fx_signatures.PublicForm, target: torch._ops.OpOverload, arguments: Arguments) -> ast.expr:
        short = form.name.split(".")[-1]
        args, kwargs = fx_signatures.tidy(arguments, (fx_signatures.of_schema(target._schema),), short)
        return self.called_on(form.name, args, kwargs) if form.method else self.named(form.name, args, kwargs)

    def indexing(self, name: str, args: tuple[Any, ...]) -> ast.expr | None:
        """A subscript in the place of slice, select, index and the size of one dimension."""
        dim = args[1] if len(args) > 1 else 0
        if name == "aten.index.Tensor" and isinstance(dim, (list, tuple)) and have_dimensions(dim):
            places = tuple(slice(None) if index is None else index for index in dim)
            return self.subscript(args[0], places if len(places) > 1 else places[0])
        if name == "aten.sym_size.int" and type(dim) is int and len(args) == 2:
            return ast.Subscript(ast.Attribute(self.value(args[0]), "shape", ast.Load()), number(dim), ast.Load())
        if type(dim) is not int or not 0 <= dim < 8:
            return None
        before = (slice(None),) * dim
        if name == "aten.select.int" and len(args) == 3 and type(args[2]) is int:
            return self.subscript(args[0], (*before, args[2]) if dim else args[2])
        if name == "aten.slice.Tensor":
            given: list[Any] = [*args[2:], *[None, None, 1][len(args[2:]) :]]
            start, stop, step = given
            if type(step) is not int or step < 1:
                return None
            part = slice(None if start == 0 else start, None if stop == LAST else stop, None if step == 1 else step)
            return self.subscript(args[0], (*before, part) if dim else part)
        return None


def have_dimensions(indices: Sequence[Any]) -> bool:
    """True if some are given, and none of them is known to be 0-d: x[i] of one is a view of x, where the operator
    copies, and it stands in another place of the result."""
    given = [index for index in indices if index is not None]
    return bool(given) and all(fx_signatures.sizes_of(index) != () for index in given)


def named_results(node: Node) -> tuple[str, ...]:
    """The names of the results of a call that gives a named tuple; () where it may give something else."""
    target: Any = node.target
    if isinstance(target, torch._ops.OpOverload):
        form = fx_signatures.public_form(target, (node.args, dict(node.kwargs)))
        if form is None:
            return ()
        schemas = [target._schema]
        name = form.name.split(".")[-1]
    else:
        name = str(target) if node.op == "call_method" else getattr(target, "__name__", "")
        if node.op == "call_function" and not fx_effects.is_builtin(target):
            return ()
        arguments: Arguments = (node.args, dict(node.kwargs))
        schemas = [s for s in fx_effects.schemas(name)
                   if fx_signatures.bind(fx_signatures.of_schema(s), arguments) is not None]  # fmt: skip
    kind = getattr(torch.return_types, name, None)
    found = {tuple(result.name for result in schema.returns) for schema in schemas}
    names: tuple[str, ...] = getattr(kind, "__match_args__", ())
    return names if found == {names} else ()


def public_name(target: Any) -> str:
    """The name under which a function is documented."""
    name = getattr(target, "__name__", "")
    if target is torch._C._set_grad_enabled:
        return "torch.set_grad_enabled"
    if fx_effects.is_builtin(target):
        for place in ("linalg", "fft", "special"):
            short = name.removeprefix(f"{place}_")
            if short != name and getattr(getattr(torch, place), short, None) is target:
                return f"torch.{place}.{short}"
        functional = getattr(torch.nn.functional, name, None)
        in_place_of = target.__module__ == "torch._C._nn" and any(
            fx_signatures.takes_the_same(functional, one) for one in fx_signatures.of_operator(name)
        )
        if functional is None and target is torch.nn.functional.logsigmoid:
            return "torch.nn.functional.logsigmoid"
        if functional is target and not hasattr(torch.Tensor, name) or in_place_of:
            return f"torch.nn.functional.{name}"
    found = name_of(target)
    if not all(map(is_name, found.split("."))):
        raise NoForm(f"a function of the name {found!r}")
    return found.removeprefix("builtins.")


def dotted(name: str) -> ast.expr:
    """A dotted name; torch.nn.functional is F, and flex_attention is imported by its own name."""
    name = name.replace("torch.nn.functional.", "F.", 1) if name.startswith("torch.nn.functional.") else name
    name = name.removeprefix("torch.nn.attention.flex_attention.")
    first, *rest = name.split(".")
    place: ast.expr = ast.Name(first, ast.Load())
    for word in rest:
        place = ast.Attribute(place, word, ast.Load())
    return place


def call(name: str, args: list[ast.expr]) -> ast.Call:
    return ast.Call(dotted(name), args, [])


def one_by_one(arguments: list[Any]) -> list[Any]:
    """The sizes or dimensions of a list, where it is the only argument; that of none stays a list."""
    only = arguments[0] if len(arguments) == 1 else None
    return list(only) if isinstance(only, (list, tuple)) and only else arguments


def without_start(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments:
    """The arguments of torch.arange, which begins at 0 where nothing else is said."""
    if len(args) == 1 and "end" in kwargs:
        args, kwargs = (*args, kwargs["end"]), {name: value for name, value in kwargs.items() if name != "end"}
    from_zero = len(args) == 2 and type(args[0]) is int and args[0] == 0 and "step" not in kwargs
    return (args[1:] if from_zero else args), kwargs


def number(value: complex) -> ast.expr:
    """A number as an expression, which ast.unparse() puts into brackets where an operator beside it asks for them."""
    return ast.parse(tensor_text.number(value), mode="eval").body
