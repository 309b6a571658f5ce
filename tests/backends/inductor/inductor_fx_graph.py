"""Tests what the inductor backend hands to TorchInductor, on its Python side: fx_graph.py and candidate.py.

inductor_fx_graph.py FOLDER [TEST ...]        FOLDER is src/backends/inductor
"""

import operator
import sys
import tempfile
import unittest
import warnings
from typing import List

sys.path.insert(0, sys.argv.pop(1))

import torch
from torch import Tensor

import candidate
import entries
import fx_candidate
import preparation
import fx_graph
from fx_compiled import FxCompiled
from fx_graph import Uncovered
from loops import end_loops
from module import make_module

aten = torch.ops.aten
INDUCTOR = torch._TorchCompileInductorWrapper(None, None, None)


def setUpModule():
    scratch = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(scratch.cleanup)
    preparation.prepare(scratch.name, [])


class Captured:
    """In the place of TorchInductor: keeps what it is handed, and runs that as it is."""

    def __init__(self):
        self.graphs = []

    def __call__(self, module, inputs):
        self.graphs.append(module)
        return module.forward

    def nodes(self):
        return [node for node in self.graphs[-1].graph.nodes if node.op == "call_function"]

    def node(self, target):
        (node,) = (node for node in self.nodes() if node.target is target)
        return node


def through(compiler, model):
    script = torch.jit.script(model.eval())
    return FxCompiled(script, make_module(script)[0], fx_graph.build, compiler)


class KeywordsAndSizes(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(6))

    def forward(self, x, y):
        flat = x.view(x.size(0), -1)
        total = torch.add(flat, self.weight, alpha=x.dim() - 1)
        first, second = torch.split(torch.sum(total, [1], dtype=torch.float64), [1, 1])
        maximum, place = torch.max(y, 0)
        parts: List[Tensor] = []
        parts.append(first)
        parts.append(second + len(parts))
        return torch.cat(parts), (maximum, x)


class Loop(torch.nn.Module):
    def forward(self, x):
        for _ in range(3):
            x = x + 1
        return x


class Branch(torch.nn.Module):
    def forward(self, x):
        if x.dim() > 1:
            x = x + 1
        return x


class BranchOnData(torch.nn.Module):
    def forward(self, x):
        if bool(x.sum() > 3):
            x = x + 1
        return x


class ReadsData(torch.nn.Module):
    def forward(self, x):
        return x + int(x.sum())


class Sparse(torch.nn.Module):
    def forward(self, x):
        return (x.to_sparse() * 2).to_dense()


class ShapeOfData(torch.nn.Module):
    def forward(self, x):
        return x.nonzero()


class WritesToView(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x):
        row = x[0]
        row.mul_(2)
        self.count.add_(1)
        return row, x.t(), x


class Trained(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Parameter(torch.randn(3, 4, generator=torch.Generator().manual_seed(0)))
        self.bias = torch.nn.Parameter(torch.ones(3))
        self.fixed = torch.nn.Parameter(torch.ones(3), requires_grad=False)

    def forward(self, x):
        return torch.sin(torch.nn.functional.linear(x, self.layer, self.bias)) * self.fixed


class Draws(torch.nn.Module):
    def forward(self, x):
        return torch.rand_like(x) + x


class Relu(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)


class Reshape(torch.nn.Module):
    def forward(self, x):
        return x.reshape(x.shape[0], int(x.shape[1]) * 4)


class Graph(unittest.TestCase):
    def test_has_the_operators_of_the_candidate_and_no_other(self):
        captured, model = Captured(), KeywordsAndSizes()
        inputs = torch.arange(12.0).reshape(2, 2, 3), torch.arange(4.0).reshape(2, 2)
        result = through(captured, model)(*inputs)
        targets = [str(node.target) for node in captured.nodes() if node.target is not operator.getitem]
        self.assertEqual(
            " ".join(targets),
            "aten.view.default aten.add.Tensor aten.sum.dim_IntList aten.split.sizes aten.max.dim aten.add.Tensor "
            "aten.cat.default",
        )
        expected = model(*inputs)
        torch.testing.assert_close(result[0], expected[0])
        torch.testing.assert_close(result[1][0], expected[1][0])
        self.assertIs(result[1][1], inputs[0])
        self.assertIsInstance(result[1], tuple)

    def test_passes_keyword_only_arguments_by_name_and_sizes_as_numbers(self):
        captured = Captured()
        through(captured, KeywordsAndSizes())(torch.ones(2, 2, 3), torch.ones(2, 2))
        total = captured.node(aten.sum.dim_IntList)
        self.assertEqual((list(total.args[1]), dict(total.kwargs)), ([1], {"dtype": torch.float64}))
        add = next(node for node in captured.nodes() if node.target is aten.add.Tensor)
        self.assertEqual((len(add.args), dict(add.kwargs)), (2, {"alpha": 2}))
        self.assertEqual(list(captured.node(aten.view.default).args[1]), [2, -1])

    def test_calls_what_python_would_call_with_a_number(self):
        class Numbers(torch.nn.Module):
            def forward(self, x):
                y = torch.add(x, 1, alpha=2) - 1.5 + 2 * x
                return torch.div(y.mul_(3), 2, rounding_mode="floor") / True

        captured, x = Captured(), torch.arange(5)
        result = through(captured, Numbers())(x)
        self.assertEqual({str(node.target).split(".", 2)[2] for node in captured.nodes()}, {"Tensor", "Tensor_mode"})
        torch.testing.assert_close(result, Numbers()(x))

    def test_has_parameters_as_attributes_and_inputs_as_placeholders(self):
        captured = Captured()
        through(captured, KeywordsAndSizes())(torch.ones(2, 2, 3), torch.ones(2, 2))
        nodes = list(captured.graphs[0].graph.nodes)
        self.assertEqual([node.target for node in nodes if node.op == "get_attr"], ["weight"])
        self.assertEqual(sum(node.op == "placeholder" for node in nodes), 2)
        self.assertIsInstance(captured.graphs[0].weight, torch.nn.Parameter)

    def test_a_number_that_tracing_put_into_a_tensor_stays_a_number(self):
        captured = Captured()
        script = torch.jit.trace(Reshape(), torch.ones(2, 3, 4))
        self.assertIn("prim::NumToTensor", [node.kind() for node in script.graph.nodes()])
        result = FxCompiled(script, make_module(script)[0], fx_graph.build, captured)(torch.ones(2, 3, 4))
        self.assertEqual(result.shape, (2, 12))
        self.assertEqual([node.target for node in captured.nodes()], [aten.reshape.default])

    def test_a_number_that_tracing_made_a_constant_of_is_known_to_the_compiler(self):
        captured, x = Captured(), torch.full((2,), 2147483647, dtype=torch.int32)

        class Wraps(torch.nn.Module):
            def forward(self, x):
                return (x + 1).to(torch.int64) > 0

        with tempfile.TemporaryDirectory() as folder:
            torch.jit.trace(Wraps(), x).save(f"{folder}/traced.pt")
            script = torch.jit.load(f"{folder}/traced.pt")
        self.assertIn("value={1}", str(script.graph))
        result = FxCompiled(script, make_module(script)[0], fx_graph.build, captured)(x)
        self.assertEqual((result.dtype, result.tolist()), (torch.bool, [False, False]))
        self.assertEqual([node.op for node in captured.nodes() if node.op == "get_attr"], [])

    def test_only_a_graph_that_reads_numbers_out_of_tensors_may_do_so(self):
        """Under torch.compile it is an error where an operator that TorchInductor puts in does."""
        allowed = []

        def compiler(module, fakes):
            allowed.append(fakes[0].fake_mode.shape_env.allow_scalar_outputs)
            return module

        for function in (lambda x: x.sin(), lambda x: x * x.sum().item(), lambda x: x[x > 0]):
            FxCompiled(None, None, None, compiler).made_of(torch.fx.symbolic_trace(function), [torch.ones(2)])
        self.assertEqual(allowed, [False, True, True])

    def test_views_another_dtype_as_users_do(self):
        captured = Captured()

        class Halves(torch.nn.Module):
            def forward(self, x: Tensor):
                return torch.ops.prims.view_of_dtype(x, torch.int32) * 2

        x = torch.arange(3)
        self.assertTrue(torch.equal(through(captured, Halves())(x), x.view(torch.int32) * 2))
        captured.node(aten.view.dtype)

    def test_is_made_once_for_each_shape(self):
        captured = Captured()
        compiled = through(captured, Relu())
        for size in (2, 2, 3):
            compiled(torch.ones(size))
        self.assertEqual(len(captured.graphs), 2)

    def test_has_of_a_branch_that_shapes_decide_what_is_taken(self):
        captured = Captured()
        compiled = through(captured, Branch())
        for x in (torch.ones(2, 2), torch.ones(2)):
            torch.testing.assert_close(compiled(x), Branch()(x))
        self.assertEqual([node.target for node in captured.nodes()], [aten.add.Tensor])

    def test_reads_parameters_in_the_order_of_their_use(self):
        class Ordered(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.second, self.first = (torch.nn.Parameter(torch.full((2,), n)) for n in (2.0, 1.0))

            def forward(self, x):
                if x.dim() > 3:
                    x = x * torch.tensor([3.0, 4.0])
                last = self.second
                return x * self.first + last

        captured = Captured()
        result = through(captured, Ordered())(torch.ones(2))
        self.assertEqual([name for name, _ in captured.graphs[0].named_parameters()], ["first", "second"])
        torch.testing.assert_close(result, torch.full((2,), 3.0))

    def test_is_not_compiled_where_nothing_is_computed(self):
        captured = Captured()
        x = torch.ones(2)
        self.assertIs(through(captured, torch.nn.Identity())(x), x)
        self.assertEqual(captured.graphs, [])


class LeftToDynamo(unittest.TestCase):
    def test_names_what_it_does_not_cover(self):
        for model, x, why in ((Loop(), torch.ones(2), "prim::Loop"), (BranchOnData(), torch.ones(2), "aten::Bool"),
                              (ReadsData(), torch.ones(2), "aten::Int"),
                              (ShapeOfData(), torch.ones(2), "DynamicOutputShape"),
                              (Sparse(), torch.ones(2, 2), "layout torch.sparse_coo")):  # fmt: skip
            captured = Captured()
            with self.assertRaisesRegex(Uncovered, why):
                through(captured, model)(x)
            self.assertEqual(captured.graphs, [])

    def test_gives_what_eager_gives(self):
        for model in (Loop(), BranchOnData(), ReadsData(), ShapeOfData()):
            script = torch.jit.script(model)
            compiled = candidate.compiled(script, make_module(script)[0], {"backend": "eager"})
            for x in (torch.ones(2), torch.ones(2, 2)):
                self.assertTrue(torch.equal(compiled(x), model(x)))

    def test_frontend_fx_does_not_fall_back(self):
        script = torch.jit.script(Loop())
        entries.front_end = "fx"
        try:
            with self.assertRaisesRegex(candidate.Untranslatable, "frontend=fx: prim::Loop"):
                candidate.compiled(script, make_module(script)[0], {})(torch.ones(2))
        finally:
            entries.front_end = None


class Inductor(unittest.TestCase):
    def test_writes_to_views_of_inputs_and_to_buffers(self):
        script = torch.jit.script(WritesToView())
        module = make_module(script)[0]
        x, again = torch.arange(6.0).reshape(2, 3), torch.arange(6.0).reshape(2, 3)
        with torch.no_grad():
            row, transposed, whole = FxCompiled(script, module, fx_graph.build, INDUCTOR)(x)
            expected = WritesToView()(again)
        self.assertTrue(torch.equal(x, again))
        self.assertIs(whole, x)
        for given, wanted in zip((row, transposed), expected):
            self.assertTrue(torch.equal(given, wanted))
            self.assertEqual(given.stride(), wanted.stride())
            self.assertEqual(given.untyped_storage().data_ptr(), x.untyped_storage().data_ptr())
        self.assertEqual(module.count.item(), 1)

    def test_gives_gradients_to_parameters_and_inputs(self):
        model = Trained()
        script = torch.jit.script(model)
        module = make_module(script)[0]
        x = torch.ones(2, 4, requires_grad=True)
        leaves = [module.layer, module.bias, x]
        result = FxCompiled(script, module, fx_graph.build, INDUCTOR)(x)
        given = torch.autograd.grad(result.sum(), leaves)
        wanted = torch.autograd.grad(model(x).sum(), [model.layer, model.bias, x])
        for one, other in zip(given, wanted):
            torch.testing.assert_close(one, other)

    def test_compiles_as_dynamo_does_under_autocast(self):
        script = torch.jit.script(Trained())
        x = torch.ones(2, 4)
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
            module = make_module(script)[0]
            given = FxCompiled(script, module, fx_graph.build, INDUCTOR)(x)
            wanted = torch.compile(make_module(script)[0])(x)
        self.assertEqual(given.dtype, wanted.dtype)
        self.assertTrue(torch.equal(given, wanted))
        self.assertFalse(torch.equal(given.float(), Trained()(x)))  # autocast did something

    def test_compiling_draws_no_random_numbers(self):
        script = torch.jit.script(Draws())
        x = torch.ones(8)
        torch.manual_seed(3)
        given = FxCompiled(script, make_module(script)[0], fx_graph.build, INDUCTOR)(x)
        torch.manual_seed(3)
        self.assertTrue(torch.equal(given, Draws()(x)))


class Loops(unittest.TestCase):
    def test_that_do_not_end_raise_in_eager(self) -> None:
        end_loops()
        x, loop = torch.ones(2), torch.ops.higher_order.while_loop
        ended = loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (0, x), ())
        self.assertEqual((ended[0], ended[1].tolist()), (3, [8.0, 8.0]))
        with self.assertRaisesRegex(RuntimeError, "has not ended after 10000 turns"):
            loop(lambda i, x: i < 3, lambda i, x: (i, x.clone()), (0, x), ())


class InFloat64(unittest.TestCase):
    """Calls of torch.fx on float64, where a cast that the program asks for rounds nothing."""

    def test_rounds_nothing_however_a_cast_is_written(self):
        def casts(x):
            y = aten.to.dtype(x.half().float(), torch.bfloat16)
            return torch.ops.prims.convert_element_type.default(y, torch.float16).to(torch.float32)

        x = torch.full((2,), 0.1, dtype=torch.float64)
        found = fx_candidate.in_float64(torch.fx.symbolic_trace(casts))(x)
        self.assertTrue(torch.equal(found, x), found)

    def test_draws_what_eager_draws(self):
        def draws(x):
            drawn = [torch.rand_like(x), torch.randn_like(x), torch.rand_like(x, dtype=torch.float32)]
            drawn += [torch.bernoulli(x.sigmoid()), x.clone().uniform_(), x.clone().exponential_()]
            return [*drawn, torch.nn.functional.dropout(x), torch.normal(x, 1.0), torch.multinomial(x.sigmoid(), 9)]

        x = torch.linspace(-1, 1, 40)
        module = torch.fx.symbolic_trace(draws)
        torch.manual_seed(0)
        expected = module(x)
        torch.manual_seed(0)
        for one, other in zip(expected, fx_candidate.in_float64(module)(x.double()), strict=True):
            self.assertTrue(torch.allclose(one.double(), other.double(), atol=1e-5))
            self.assertIn(other.dtype, (torch.float64, torch.int64))


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # torch.jit is deprecated
    unittest.main(warnings="ignore")
