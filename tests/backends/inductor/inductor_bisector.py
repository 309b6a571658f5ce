"""The name that the bisector (bisector.py) has for a lowering: that of its overload, not of the node of a graph.

inductor_bisector.py FOLDER [TEST ...]        FOLDER is src/backends/inductor
"""

import os
import sys
import unittest
from types import SimpleNamespace

sys.path.insert(0, os.path.abspath(sys.argv.pop(1)))

import torch
from torch._inductor.virtualized import V

import bisector

aten = torch.ops.aten


class LoweringTest(unittest.TestCase):
    def test_is_named_after_the_operator_where_that_has_one_overload_in_question(self):
        self.assertEqual(bisector.overload_name(aten.sinh.default), "sinh")

    def test_is_named_after_its_overload(self):
        self.assertEqual(bisector.overload_name(aten.div.Tensor_mode), "aten.div.Tensor_mode")
        self.assertEqual(bisector.overload_name(torch.ops.prims.iota.default), "prims.iota.default")

    def test_of_the_second_node_has_the_name_of_the_operator(self):
        given = []
        question = bisector.naming_overloads(lambda *part: given.append((part[:2], part[2] and part[2]())))
        graph = torch.fx.Graph()
        x = graph.placeholder("x")
        second = graph.call_function(aten.sinh.default, (graph.call_function(aten.sinh.default, (x,)),))
        with V.set_graph_handler(SimpleNamespace(current_node=second)):
            question("inductor", "lowerings", lambda: repr(second))
        question("inductor", "post_grad_passes", lambda: "a_pass")
        question("inductor", "cudagraphs")
        self.assertEqual(given, [(("inductor", "lowerings"), "sinh"), (("inductor", "post_grad_passes"), "a_pass"),
                                 (("inductor", "cudagraphs"), None)])  # fmt: skip


if __name__ == "__main__":
    unittest.main()
