"""Explanations: compilers with a planted fault are seen through, and no more is said than holds for other inputs.

inductor_explanation.py FOLDER [TEST ...]        FOLDER is src/backends/inductor
"""

import operator
import sys
import unittest

sys.path.insert(0, sys.argv.pop(1))

import torch
from torch.fx import Graph, GraphModule

from explanation import Side, explained, with_operands


def program(*calls, inputs=1):
    """A GraphModule that returns the result of its last call. Each call is a function, or the name of a method, and its
    arguments; a text that begins with % names an input, %0, or the result of a call, %mul."""
    graph = Graph()
    nodes = {f"%{i}": graph.placeholder(f"argument_{i}") for i in range(inputs)}
    for function, *arguments in calls:
        given = tuple(nodes.get(each, each) if isinstance(each, str) else each for each in arguments)
        made = graph.call_method(function, given) if isinstance(function, str) else graph.call_function(function, given)
        nodes[f"%{made.name}"] = made
    graph.output((made,))
    return GraphModule(torch.nn.Module(), graph)


def explanation(module, compiled, *arguments):
    found = explained(module, Side(compiled, []), list(arguments), [])
    return found and (found.kind, found.call, found.other)


class Explanations(unittest.TestCase):
    def test_a_copy_that_is_lost(self):
        module = program(("clone", "%0"), (operator.setitem, "%0", slice(0, 1), 9.0), (operator.mul, "%clone", 2))

        def compiled(x):
            x[:1] = 9.0
            return (x * 2,)

        self.assertEqual(explanation(module, compiled, torch.arange(3.0)), ("left out", "clone", ""))

    def test_a_result_without_its_gradient(self):
        """The other result still has one."""
        graph = Graph()
        x = graph.placeholder("argument_0")
        sine = graph.call_function(torch.sin, (x,))
        graph.output((sine, graph.call_function(torch.exp, (sine,))))
        module = GraphModule(torch.nn.Module(), graph)
        for compiled, call in ((lambda x: (x.sin(), x.sin().exp().detach()), "exp"),
                               (lambda x: (x.sin().detach(), x.sin().exp()), "sin")):  # fmt: skip
            found = explained(module, Side(compiled, [], of_gradients=True), [torch.ones(2, requires_grad=True)], [])
            self.assertEqual((found.kind, found.call), ("detached", call))

    def test_a_divisor_in_gradients_alone(self):
        """The result forward is right, and says nothing."""
        pool = torch.nn.functional.avg_pool2d
        module = program((pool, "%0", 3, 2, 0, True))

        class OtherDivisor(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.shape = x.shape
                return pool(x, 3, 2, ceil_mode=True)

            @staticmethod
            def backward(ctx, gradient):
                x = torch.zeros(ctx.shape, requires_grad=True)
                with torch.enable_grad():
                    pooled = pool(x, 3, 2, ceil_mode=True, divisor_override=9)
                return torch.autograd.grad(pooled, x, gradient)[0]

        compiled = Side(lambda x: (OtherDivisor.apply(x),), [], of_gradients=True)
        found = explained(module, compiled, [torch.ones(1, 1, 4, 4, requires_grad=True)], [])
        self.assertEqual((found.kind, found.call, found.other), ("divides by", "avg_pool2d", "9"))

    def test_another_dtype_leaves_a_view_as_it_is(self):
        module = program(("add_", "%0", 1), (torch.as_strided_copy, "%0", (3,), (2,)))

        def compiled(x):
            return (torch.as_strided_copy(x.add_(1).contiguous(), (3,), (2,)),)

        self.assertIsNone(explanation(module, compiled, torch.arange(10.0)[::2]))

    def test_a_write_that_comes_too_early(self):
        module = program((operator.mul, "%0", 2), (operator.setitem, "%0", slice(0, 1), 9.0), ("add", "%mul", 1))

        def compiled(x):
            x[:1] = 9.0
            return (x * 2 + 1,)

        self.assertEqual(explanation(module, compiled, torch.arange(3.0)), ("before", "setitem", "mul"))

    def test_a_write_that_comes_too_late(self):
        module = program((operator.setitem, "%0", slice(0, 1), 9.0), (operator.mul, "%0", 2))

        def compiled(x):
            result = x * 2
            x[:1] = 9.0
            return (result,)

        self.assertEqual(explanation(module, compiled, torch.arange(3.0)), ("after", "setitem", "mul"))

    def test_a_write_that_its_own_reads_see(self):
        module = program((torch.flip, "%0", [0]), ("add_", "%0", "%flip"))

        def compiled(x):
            for i in range(len(x)):
                x[i] += x[len(x) - 1 - i].clone()
            return (x,)

        self.assertEqual(explanation(module, compiled, torch.ones(4)), ("sees itself", "add_", ""))

    def test_a_switch_that_is_turned(self):
        module = program((torch.std, "%0"))
        found = explanation(module, lambda x: (torch.std(x, unbiased=False),), torch.arange(4.0))
        self.assertEqual(found, ("with", "std", "unbiased=False"))

    def test_a_dtype_that_is_kept(self):
        module = program((operator.add, "%0", 1))
        found = explanation(module, lambda x: (x.to(torch.int64) + 1,), torch.arange(4, dtype=torch.int32))
        self.assertEqual(found, ("unwrapped", "add", "torch.int32"))

    def test_an_argument_that_is_not_heard(self):
        pool = torch.nn.functional.avg_pool1d
        module = program((pool, "%0", 2, 2, 0, True), ("sum", "%avg_pool1d"))
        found = explanation(module, lambda x: (pool(x, 2, 2).sum(),), torch.arange(5.0).reshape(1, 1, 5))
        self.assertEqual(found, ("without", "avg_pool1d", "ceil_mode=True"))

    def test_another_rounding_of_halves(self):
        module = program((torch.round, "%0"), inputs=1)
        found = explanation(module, lambda x: (torch.floor(x + 0.5),), torch.tensor([0.5, 1.5, -2.5]))
        self.assertEqual(found, ("as", "round_1", "torch.floor(x + 0.5)"))

    def test_a_sum_that_does_not_wrap(self):
        module = program((operator.add, "%0", 2147483600), (operator.gt, "%add", 0))
        x = torch.tensor([100, -5], dtype=torch.int32)
        found = explanation(module, lambda x: (x.to(torch.int64) + 2147483600 > 0,), x)
        self.assertEqual(found, ("unwrapped", "add", "torch.int32"))

    def test_which_cast_is_left_out(self):
        module = program((torch.exp, "%0"), (operator.mul, "%exp", 0.7), (torch.sin, "%mul"))
        x = torch.linspace(-2, 2, 41).to(torch.bfloat16)

        def compiled(x):
            return (torch.sin((torch.exp(x.float()) * 0.7).to(torch.bfloat16)),)

        self.assertEqual(explanation(module, compiled, x), ("in", "exp", "torch.float32"))

    def test_all_casts_are_left_out(self):
        module = program((torch.exp, "%0"), (operator.mul, "%exp", 0.7), (torch.sin, "%mul"))
        x = torch.linspace(-2, 2, 41).to(torch.bfloat16)
        found = explanation(module, lambda x: (torch.sin(torch.exp(x.float()) * 0.7).to(torch.bfloat16),), x)
        self.assertEqual(found, ("in", "", "torch.float32"))

    def test_what_fits_these_inputs_alone_is_not_believed(self):
        module = program((operator.gt, "%0", 0))
        self.assertIsNone(explanation(module, lambda x: (x > 5,), torch.tensor([3])))
        module = program((torch.abs, "%0"), ("add", "%abs_1", 1))
        self.assertIsNone(explanation(module, lambda x: (torch.full_like(x, 3) + x * 0,), torch.tensor([2.5])))

    def test_a_formula_has_the_operands_of_the_call(self):
        formula = "x - torch.floor(x / y) * y"
        self.assertEqual(with_operands(formula, "(a + 1) % 0.5"), "a + 1 - torch.floor((a + 1) / 0.5) * 0.5")
        self.assertEqual(with_operands("torch.floor(x / y)", "torch.div(a, b, rounding_mode=m)"), "torch.floor(a / b)")
        self.assertEqual(with_operands("torch.trunc(x)", "a.round()"), "torch.trunc(a)")
        for other in ("a %= 2", "torch.div()", "a[0]"):
            self.assertEqual(with_operands(formula, other), formula)
        module = program((operator.mod, "%0", float("inf")))
        found = explanation(module, lambda x: (x - x // float("inf") * float("inf"),), torch.ones(1))
        self.assertEqual(found, ("as", "mod", "x - x // y * y"))

    def test_what_fits_these_sizes_alone_is_not_believed(self):
        """Where each element is written once, a mean without what was there is the last that was written."""
        module = program((torch.scatter_reduce, "%0", 0, "%1", "%2", "mean"), inputs=3)
        given = (torch.ones(2), torch.ones(1, dtype=torch.int64), torch.tensor([2.0]))

        def compiled(x, y, z):
            return (torch.scatter(x, 0, y, z),)

        self.assertIsNone(explanation(module, compiled, *given))

        def without_self(x, y, z):
            return (torch.scatter_reduce(x, 0, y, z, "mean", include_self=False),)

        self.assertEqual(explanation(module, without_self, *given)[0], "with")

    def test_what_is_right_for_larger_inputs_is_explained(self):
        """Code for single elements may be wrong where code for vectors is right."""
        module = program((operator.add, "%0", 100), (operator.gt, "%add", 0))

        def compiled(x):
            return ((x.to(torch.int64) if x.numel() == 1 else x) + 100 > 0,)

        found = explanation(module, compiled, torch.tensor([59], dtype=torch.int8))
        self.assertEqual(found, ("unwrapped", "add", "torch.int8"))

    def test_what_is_right_or_raises_has_none(self):
        module = program((torch.exp, "%0"))
        self.assertIsNone(explanation(module, lambda x: (torch.exp(x),), torch.ones(2)))

        def compiled(x):
            raise RuntimeError("no")

        self.assertIsNone(explanation(module, compiled, torch.ones(2)))

    def test_the_state_is_as_it_was(self):
        module = program((torch.exp, "%0"))
        weight = torch.ones(2)

        def compiled(x):
            weight.add_(1)
            return (x * weight,)

        explained(module, Side(compiled, [weight]), [torch.ones(2)], [torch.zeros(2)])
        self.assertEqual(weight.tolist(), [1, 1])


if __name__ == "__main__":
    unittest.main()
