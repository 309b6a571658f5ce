"""Random programs of torch.fx as Python: the text gives what the graph gives, to the last bit, and leaves
the same in its inputs.

inductor_fx_text_random.py FOLDER [TEST ...]        FOLDER is src/backends/inductor
"""

import operator
import os
import random
import unittest
import warnings
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch.fx import Graph, Node

from inductor_fx_text import Same, text_of  # it makes FOLDER known

aten = torch.ops.aten
PROGRAMS = 400 if "REPRO_MINIFY_ALL_TESTS" in os.environ else 150


class Choices:
    """Draws the calls of a program, and makes each on the spot: one that raises is left out."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.graph = Graph()
        self.values: dict[Node, Any] = {}
        self.inputs: list[Any] = []
        torch.manual_seed(seed)
        for _ in range(self.random.randint(1, 3)):
            shape = self.random.choice([(3, 3), (3, 3), (3,), (4, 3), (1, 3)])
            self.inputs.append(self.random.choice([torch.randn(shape), torch.arange(9.0).reshape(3, 3) - 4]))
            node = self.graph.placeholder(f"argument_{len(self.inputs)}")
            self.values[node] = self.inputs[-1].clone()
        for _ in range(self.random.randint(3, 14)):
            self.call(*self.drawn())
        kept = [node for node in self.values if not isinstance(self.values[node], (list, tuple))]
        self.graph.output(tuple(self.random.sample(kept, min(len(kept), self.random.randint(1, 3)))))

    def one(self, kind: type = torch.Tensor) -> Node:
        """A value, a recent one mostly."""
        fitting = [node for node, value in self.values.items() if isinstance(value, kind)]
        return self.random.choice(fitting[-2:] if self.random.random() < 0.6 else fitting)

    def call(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        def value(node: Node) -> Any:
            return self.values[node]

        made_args, made_kwargs = torch.fx.node.map_arg((args, kwargs), value)
        try:
            if isinstance(target, str):
                result = getattr(made_args[0], target)(*made_args[1:], **made_kwargs)
            else:
                result = target(*made_args, **made_kwargs)
        except (RuntimeError, IndexError, TypeError, ValueError):
            return
        make = self.graph.call_method if isinstance(target, str) else self.graph.call_function
        node = make(target, args, kwargs)
        if isinstance(result, torch.Tensor) and result.numel() < 200 or isinstance(result, (int, list, tuple)):
            self.values[node] = result

    def drawn(self) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
        pick = self.random.choice
        x, y = self.one(), self.one()
        number = pick([1, 2, -1, 0.5, -0.0, 3, y, y])
        index = pick([0, -1, slice(1, None), slice(None, -1), (slice(None), 0), (..., None), (None, slice(0, 2)),
                      (slice(None), slice(None, None, 2))])  # fmt: skip
        if self.random.random() < 0.1 and any(isinstance(value, tuple) for value in self.values.values()):
            return operator.getitem, (self.one(tuple), pick([0, 1])), {}
        if self.random.random() < 0.1 and any(isinstance(value, int) for value in self.values.values()):
            n = self.one(int)
            return pick([(pick([operator.add, operator.mul, operator.iadd]), (pick([n, x]), pick([n, 2])), {}),
                         (operator.mul, (x, n), {}), ("add", (x, n), {})])  # fmt: skip
        functions = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.pow,
                     operator.matmul, operator.gt, operator.eq, torch.add, torch.sub, torch.mul, torch.div,
                     torch.matmul, torch.maximum, aten.add.Tensor, aten.sub.Tensor, aten.mul.Tensor, aten.div.Tensor,
                     aten.mm.default, aten.rsub.Scalar, aten.pow.Tensor_Scalar, aten.ge.Scalar, aten.where.self,
                     aten.remainder.Scalar, torch.fmod, torch.atan2, aten.atan2.default]  # fmt: skip
        unary = [operator.neg, operator.invert, operator.abs, torch.relu, torch.sigmoid, F.gelu, F.relu, torch.flip,
                 torch.rand_like, aten.neg.default, aten.exp.default, aten.t.default, torch.relu_, aten.sin_.default,
                 aten.clone.default, aten.alias.default, torch.bernoulli, F.softplus]  # fmt: skip
        methods = ["clone", "t", "sum", "mean", "neg", "neg_", "zero_", "contiguous", "half", "float", "relu_", "t_",
                   "flatten", "exp", "detach", "long", "numel", "dim", "isnan", "cos_", "bernoulli"]  # fmt: skip
        draws: list[Callable[[], tuple[Any, tuple[Any, ...], dict[str, Any]]]] = [
            lambda: (pick(functions), (x, number), {}),
            lambda: (pick(functions), (number, x), {}),
            lambda: (pick([operator.iadd, operator.isub, operator.imul, operator.itruediv]), (x, number), {}),
            lambda: (pick(unary), (x,), {}),
            lambda: (pick(methods), (x,), {}),
            lambda: (pick(methods), (x,), {}),
            lambda: (pick(["add_", "mul_", "sub_", "copy_", "add", "mul", "div", "eq"]), (x, number), {}),
            lambda: (operator.getitem, (x, index), {}),
            lambda: (operator.getitem, (x, index), {}),
            lambda: (operator.setitem, (x, index, pick([number, y, 0])), {}),
            lambda: (operator.setitem, (x, index, pick([number, y, 0])), {}),
            lambda: (pick([torch.add, torch.mul, torch.sub]), (x, y), {"out": self.one()}),
            lambda: (pick([torch.add, torch.sub, aten.add.Tensor]), (x, y), {"alpha": pick([1, 2])}),
            lambda: (pick([torch._foreach_mul_, torch._foreach_add_]), ([x, self.one()], [y, self.one()]), {}),
            lambda: (pick([torch._foreach_mul, torch._foreach_sub]), ([x, y], pick([2, [y, x]])), {}),
            lambda: (pick([torch._foreach_neg_, torch._foreach_exp]), ([x, y],), {}),
            lambda: (pick(["sum", "mean", "amax", "cumsum", "unsqueeze", "select", "softmax", "size"]), (x, 0), {}),
            lambda: (pick(["sum", "mean", "amax", "max", "sort"]), (x, pick([0, -1]), pick([True, False])), {}),
            lambda: (pick([torch.sum, torch.max, torch.min, torch.std, torch.topk]), (x, 1), {}),
            lambda: (pick([torch.max, torch.sum]), (x,), {"dim": 0, "keepdim": pick([True, False])}),
            lambda: (pick([aten.sum.dim_IntList, aten.mean.dim, aten.amax.default]), (x, [0], pick([True, False])), {}),
            lambda: (pick([aten.max.dim, aten.sort.default, aten.topk.default, aten.unbind.int]), (x, 0), {}),
            lambda: (aten.slice.Tensor, (x, pick([0, 1]), pick([0, 1]), pick([2, 9223372036854775807])), {}),
            lambda: (pick([aten.select.int, aten.transpose.int, aten.squeeze.dim]), (x, 0, pick([0, 1])), {}),
            lambda: (pick([aten.unsqueeze.default, aten.cumsum.default, aten.split.Tensor, "split"]), (x, 1), {}),
            lambda: (pick([aten.view.default, aten.reshape.default, aten.expand.default]), (x, [3, 3]), {}),
            lambda: (pick(["view", "reshape", "expand", "new_zeros"]), (x, pick([3, -1]), 3), {}),
            lambda: (pick([torch.cat, torch.stack, aten.cat.default, aten.stack.default]), ([x, y], 0), {}),
            lambda: (pick([F.softmax, F.layer_norm, F.dropout]), (x, pick([0, -1, (3,), 0.5])), {}),
            lambda: (F.dropout, (x, 0.5, pick([True, False])), {}),
            lambda: (F.relu, (x, True), {}),
            lambda: (pick([torch.rand, torch.randn, torch.zeros, aten.ones.default]), ([3, 3],), {}),
            lambda: (pick([torch.where, aten.where.self]), (self.one(), x, y), {}),
            lambda: (pick([aten.clamp.default, torch.clamp, "clamp_"]), (x, pick([None, 0]), 1), {}),
            lambda: (pick(["to", "type", aten.to.dtype]), (x, pick([torch.float64, torch.float32, torch.int32])), {}),
            lambda: (getattr, (x, pick(["T", "mT", "real"])), {}),
            lambda: ("view", (x, torch.int32), {}),
            lambda: (pick(["add_", "mul_", aten.add_.Tensor, aten.mul_.Tensor, aten.copy_.default]), (x, y), {}),
        ]  # fmt: skip
        return pick(draws)()


class RandomPrograms(Same):
    def test_do_what_their_graphs_do(self) -> None:
        for seed in range(PROGRAMS):
            with self.subTest(seed=seed):
                choices = Choices(seed)
                text = self.check(choices.graph, choices.inputs)
                self.assertEqual(text_of(choices.graph, bare=False), text)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    unittest.main(warnings="ignore")
