"""Conditions of a failure, and NumPy's opinion: compilers with a planted fault.

inductor_conditions.py FOLDER [TEST ...]        FOLDER is src/backends/inductor
"""

import operator
import sys
import unittest

sys.path.insert(0, sys.argv.pop(1))

import torch
from torch.fx import Graph, GraphModule

import conditions
import numpy_side
from explanation import Side


def asked(compiled, eager, *arguments, state=()):
    return conditions.asked(Side(compiled, list(state)), Side(eager, list(state)), list(arguments))


class Conditions(unittest.TestCase):
    def test_a_fault_of_one_dtype(self):
        def compiled(x):
            return x.abs() if x.dtype != torch.int16 else x.to(torch.int32).abs()

        cases = asked(compiled, torch.abs, torch.tensor([-32768, 3], dtype=torch.int16))
        dtypes = {case["what"]: case["fails"] for case in cases if case["kind"] == "dtype"}
        self.assertEqual(dtypes, dict.fromkeys(("uint8", "int8", "int32", "int64"), False))

    def test_dtypes_are_not_asked_where_they_would_say_little(self):
        """It is not said which of two floating dtypes is meant, and a number that becomes 0 is another one."""
        one, other = torch.ones(2), torch.ones(2, dtype=torch.float64)
        self.assertEqual([case for case in asked(torch.sub, torch.add, one, other) if case["kind"] == "dtype"], [])
        tiny = asked(torch.neg, torch.clone, torch.full((2,), 1e-8))
        self.assertEqual({case["what"] for case in tiny if case["kind"] == "dtype"}, {"bfloat16", "float64"})

    def test_a_fault_of_floats_of_few_bits(self):
        def compiled(x):
            return x * (2 if x.element_size() < 4 else 1)

        cases = asked(compiled, torch.clone, torch.ones(2, dtype=torch.float16))
        dtypes = {case["what"]: case["fails"] for case in cases if case["kind"] == "dtype"}
        self.assertEqual(dtypes, {"bfloat16": True, "float32": False, "float64": False})

    def test_a_fault_of_one_row(self):
        def compiled(x):
            return x * (2 if x.shape[0] == 1 else 1)

        cases = asked(compiled, torch.clone, torch.ones(1, 4))
        sizes = {case["what"]: case["fails"] for case in cases if case["kind"] == "size"}
        self.assertEqual(sizes, {"the first dimension": False, "the last dimension": True})

    def test_a_fault_without_dimensions(self):
        def compiled(x):
            if not x.dim():
                raise RuntimeError("no dimension")
            return x.cumsum(0)

        cases = asked(compiled, lambda x: x.cumsum(0), torch.tensor(1.0))
        self.assertEqual([case["fails"] for case in cases if case["kind"] == "rank"], [False])
        self.assertEqual({case["fails"] for case in cases if case["kind"] == "dtype"}, {True})

    def test_what_is_rounded_less_is_no_fault(self):
        def compiled(x):  # as one loop computes it
            return ((x.float() + 100.0) - 100.0).to(x.dtype) if x.dtype != torch.float32 else x * 2

        cases = asked(compiled, lambda x: (x + 100.0) - 100.0, torch.tensor([0.3, 0.7]))
        self.assertIn({"what": "bfloat16", "kind": "dtype", "fails": False}, cases)

    def test_another_failure_is_none_of_this_one(self):
        def compiled(x):
            if x.dtype != torch.float32:
                raise RuntimeError("no such kernel")
            return x * 2

        self.assertEqual([case for case in asked(compiled, torch.clone, torch.ones(2)) if case["kind"] == "dtype"], [])

    def test_values_that_another_dtype_has_not(self):
        cases = asked(torch.clone, torch.clone, torch.tensor([1000], dtype=torch.int32))
        self.assertEqual([case["what"] for case in cases if case["kind"] == "dtype"], ["int16", "int64"])
        self.assertNotIn("float16", [case["what"] for case in asked(torch.clone, torch.clone, torch.full((1,), 1e9))])

    def test_the_ends_of_a_type_become_those_of_the_other(self):
        seen = []

        def compiled(x):
            seen.append(x.tolist())
            return x

        asked(compiled, torch.clone, torch.tensor([127, -128, 5], dtype=torch.int8))
        self.assertIn([32767, -32768, 5], seen)
        self.assertIn([255, 0, 5], seen)

    def test_strides_and_shared_memory_are_not_made_of_other_sizes(self):
        memory = torch.ones(4)
        for given in ([torch.ones(2, 3).t()], [torch.ones(4)[::2]], [memory, memory[1:]]):
            self.assertEqual(list(conditions.cases(given, [])), [])

    def test_what_eager_refuses_is_not_asked(self):
        def eager(x):
            if x.dtype != torch.float32:
                raise TypeError("float alone")
            return x.clone()

        self.assertEqual([case["kind"] for case in asked(eager, eager, torch.ones(2))], ["size"])

    def test_tensors_of_the_module_stay_as_they_are(self):
        cases = asked(torch.clone, torch.clone, torch.ones(2), state=[torch.ones(2)])
        self.assertEqual({case["kind"] for case in cases}, {"size"})


def program(*calls):
    """A GraphModule of one input, "%0", that returns the result of its last call."""
    graph = Graph()
    nodes = {"%0": graph.placeholder("argument_0")}
    for function, *arguments in calls:
        keywords = arguments.pop() if arguments and isinstance(arguments[-1], dict) else {}
        given = tuple(nodes.get(each, each) if isinstance(each, str) else each for each in arguments)
        create = graph.call_method if isinstance(function, str) else graph.call_function
        made = create(function, given, keywords)
        nodes[f"%{made.name}"] = made
    graph.output((made,))
    return GraphModule(torch.nn.Module(), graph)


class OpinionOfNumpy(unittest.TestCase):
    def agrees(self, module, wrong, x):
        eager, compiled = Side(module, []), Side(lambda x: (wrong(x),), [])
        return numpy_side.agrees(module, [x], compiled.outcome([x]), eager.outcome([x]))

    def test_it_is_on_the_side_of_eager(self):
        x = torch.tensor([80500.0])
        for module in (program((torch.round, "%0", {"decimals": -3})), program(("round", "%0", {"decimals": -3}))):
            self.assertTrue(self.agrees(module, lambda x: x + 500, x))
            right = Side(module, []).outcome([x])
            self.assertFalse(numpy_side.agrees(module, [x], right, right), "where nothing differs it says nothing")

    def test_operators_and_reductions(self):
        x = torch.tensor([[1, -128]], dtype=torch.int8)
        self.assertTrue(self.agrees(program((torch.abs, "%0"), (operator.gt, "%abs_1", 0)), lambda x: x == x, x))
        self.assertTrue(self.agrees(program(("sum", "%0", {"dim": 1})), lambda x: x.sum(1) + 1, x))
        self.assertTrue(self.agrees(program(("float", "%0"), ("atanh", "%float_1")), lambda x: x * 0.0, x * 0 + 1))

    def test_operators_of_torch_ops_are_known_by_their_names(self):
        x = torch.tensor([[3, 5]], dtype=torch.uint8)
        aten = torch.ops.aten
        module = program((aten.amin.default, "%0", [1]), (aten.remainder.Scalar, "%amin_default", 2))
        self.assertTrue(self.agrees(module, lambda x: x[:, 0] * 0, x))

    def test_what_it_does_otherwise_is_no_opinion(self):
        x = torch.tensor([1.0, 3.0])
        self.assertFalse(self.agrees(program(("std", "%0")), lambda x: x.std() * 2, x), "it divides by n")

    def test_what_it_has_not_is_no_opinion(self):
        self.assertFalse(self.agrees(program((torch.erf, "%0")), lambda x: x, torch.ones(2)))
        self.assertFalse(self.agrees(program((torch.neg, "%0")), lambda x: x, torch.ones(2, dtype=torch.bfloat16)))


if __name__ == "__main__":
    unittest.main()
