"""The names that the bisector (bisector.py) has: a lowering is named after its overload, not after the node of a graph,
and a numbered set of patterns after what matches.

inductor_bisector.py FOLDER [TEST ...]        FOLDER is src/backends/inductor
"""

import os
import sys
import unittest
from types import SimpleNamespace

sys.path.insert(0, os.path.abspath(sys.argv.pop(1)))

import torch
from torch._inductor.pattern_matcher import (
    Arg,
    CallFunction,
    PatternMatcherPass,
    ReplacementPatternEntry,
    register_graph_pattern,
)
from torch._inductor.virtualized import V
from torch.fx.passes.graph_transform_observer import GraphTransformObserver

import bisector

aten = torch.ops.aten


class LoweringTest(unittest.TestCase):
    def test_is_named_after_the_operator_where_that_has_one_overload_in_question(self):
        self.assertEqual(bisector.overload_name(aten.sinh.default), "sinh")
        self.assertEqual(bisector.decomposed_name(repr(aten.native_layer_norm.default)), "native_layer_norm")
        self.assertEqual(bisector.decomposed_name(repr(aten.div.Tensor_mode)), "aten.div.Tensor_mode")
        self.assertEqual(bisector.decomposed_name("round"), "round")

    def test_is_named_after_its_overload(self):
        self.assertEqual(bisector.overload_name(aten.div.Tensor_mode), "aten.div.Tensor_mode")
        self.assertEqual(bisector.overload_name(torch.ops.prims.iota.default), "prims.iota.default")

    def test_of_the_second_node_has_the_name_of_the_operator(self):
        given = []
        question = bisector.naming_parts(lambda *part: given.append((part[:2], part[2] and part[2]())))
        graph = torch.fx.Graph()
        x = graph.placeholder("x")
        second = graph.call_function(aten.sinh.default, (graph.call_function(aten.sinh.default, (x,)),))
        with V.set_graph_handler(SimpleNamespace(current_node=second)):
            question("inductor", "lowerings", lambda: repr(second))
        question("inductor", "post_grad_passes", lambda: "a_pass")
        question("inductor", "cudagraphs")
        self.assertEqual(given, [(("inductor", "lowerings"), "sinh"), (("inductor", "post_grad_passes"), "a_pass"),
                                 (("inductor", "cudagraphs"), None)])  # fmt: skip

    def question_of_pass(self, function, patterns):
        """Returns the name under which the bisector is asked about a set of patterns, for a graph of ATen."""
        given = []
        question = bisector.naming_parts(lambda *part: given.append(part[2]()))
        graph = torch.fx.symbolic_trace(function)

        def ask(observer, apply_pass):
            question("inductor", "post_grad_passes", lambda: observer.passname)

        observed = bisector.remembering(ask)
        observed(GraphTransformObserver(graph, "pass_pattern_1", "post_grad_passes"), patterns.apply)
        return given

    def test_of_patterns_is_that_of_the_replacement_that_applies(self):
        patterns = PatternMatcherPass()

        @register_graph_pattern(CallFunction(aten.sinh.default, Arg()), pass_dict=patterns)
        def sinh_by_exp(match, x):
            raise AssertionError("nothing is replaced where names are looked for")

        @register_graph_pattern(CallFunction(aten.cosh.default, Arg()), pass_dict=patterns)
        def cosh_by_exp(match, x): ...

        self.assertEqual(self.question_of_pass(lambda x: aten.sinh.default(x), patterns), ["sinh_by_exp"])
        self.assertEqual(self.question_of_pass(lambda x: aten.tan.default(x), patterns), ["pass_pattern_1"])
        self.assertEqual(bisector.passes_under_way, [])

    def test_of_a_pattern_whose_check_raises_is_its_own_and_of_one_without_a_name_that_of_the_pass(self):
        def raises(_):
            raise ValueError

        for name, asked in (("sinh_to_exp", "sinh_to_exp"), (None, "pass_pattern_1")):
            patterns, pattern = PatternMatcherPass(), CallFunction(aten.sinh.default, Arg())
            ReplacementPatternEntry(pattern, raises, list, pattern_name=name).register(patterns)
            self.assertEqual(self.question_of_pass(lambda x: aten.sinh.default(x), patterns), [asked])


if __name__ == "__main__":
    unittest.main()
