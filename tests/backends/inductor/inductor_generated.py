"""The code that TorchInductor makes of a program, and where in PyTorch that is written.

inductor_generated.py FOLDER [TEST ...]        FOLDER is src/backends/inductor
"""

import os
import sys
import unittest

sys.path.insert(0, sys.argv.pop(1))

import torch
import torch.nn.functional as F
from torch._inductor import decomposition

import generated
import kernel_values


def watched(function, *arguments):
    torch._dynamo.reset()
    with generated.Watch() as watch:
        torch.compile(function)(*arguments)
    return watch.shown()


class OfACompiledProgram(unittest.TestCase):
    def setUp(self):
        torch.compile(torch.neg)(torch.ones(2))  # from then on TorchInductor has read its own patterns

    def test_statements_of_a_kernel_and_what_writes_them(self):
        found = watched(torch.sinh, torch.ones(4))
        self.assertEqual(found["language"], "cpp")
        self.assertIn(".sinh();", found["code"])
        for noise in ("#include", "static_cast<int64_t>", "at::vec", "integer_div"):
            self.assertNotIn(noise, found["code"])
        (origin,) = found["origins"]
        self.assertEqual((origin["operator"], origin["kind"]), ("aten.sinh.default", "code generation"))
        self.assertEqual(origin["function"], "CppVecOverrides.sinh")
        line = (generated.TORCH / origin["file"]).read_text().splitlines()[origin["line"] - 1 : origin["line"] + 1]
        self.assertIn("def sinh(x):", " ".join(line))

    def test_scalar_code_is_written_by_another_class(self):
        found = watched(torch.abs, torch.ones(1, dtype=torch.int16))
        self.assertIn("std::abs(tmp0)", found["code"])
        self.assertEqual([origin["function"] for origin in found["origins"]], ["CppOverrides.abs"])

    def test_a_short_decomposition_is_shown_whole(self):
        found = watched(lambda x: torch.round(x, decimals=-1), torch.ones(2))
        first = found["origins"][0]
        self.assertEqual((first["operator"], first["function"]), ("aten.round.decimals", "round_dec"))
        self.assertIn("return aten.round(x * ten_pow_decimals) * (1.0 / ten_pow_decimals)", first["source"])

    def test_a_call_of_another_library_is_shown_where_there_is_no_kernel(self):
        found = watched(torch.mm, torch.ones(2, 3), torch.ones(3, 2))
        self.assertEqual((found["code"], found["calls"]), ("", "extern_kernels.mm(arg0_1, arg1_1, out=buf0)"))
        found = watched(lambda x, y: (x @ y) * 2, torch.ones(2, 3), torch.ones(3, 2))
        self.assertIn("tmp0 * tmp2", found["code"])
        self.assertEqual(found["calls"].splitlines()[0], "extern_kernels.mm(arg0_1, arg1_1, out=buf0)")
        self.assertEqual(watched(torch.sinh, torch.ones(2))["calls"], "", "nothing but a kernel is called")

    def test_what_stands_in_a_loop_is_indented(self):
        code = watched(lambda x: x.sum(), torch.ones(600))["code"].splitlines()
        depths = [len(line) - len(line.lstrip()) for line in code]
        self.assertEqual(depths[0], 0)
        loop = next(place for place, line in enumerate(code) if line.startswith("for("))
        self.assertEqual(depths[loop : loop + 3], [0, 2, 4])
        self.assertEqual(depths[-1], 0)

    def test_arguments_that_are_the_same_memory(self):
        kernel = 'extern "C" void kernel(const float* in_ptr0,\n  float* out_ptr0)\n{\n out_ptr0[0] = in_ptr0[1];\n}\n'

        def said(call):
            return generated.same_memory(f"        {call}\n", "fused", kernel)

        self.assertEqual(said("fused(arg0_1, arg0_1)"), "// in_ptr0 and out_ptr0 are the same memory")
        self.assertEqual(said("fused(reinterpret_tensor(buf0, (2, ), (1, ), 0), buf0)"),
                         "// in_ptr0 and out_ptr0 are the same memory")  # fmt: skip
        self.assertEqual(said("buf1 = arg0_1; del arg0_1  # reuse\n        fused(arg0_1, buf1)"),
                         "// in_ptr0 and out_ptr0 are the same memory")  # fmt: skip
        self.assertEqual(said("buf0 = torch.ops.aten.view.dtype(arg0_1, torch.int32)\n        buf1 = buf0\n"
                              "        fused(buf1, arg0_1)"),
                         "// in_ptr0 and out_ptr0 are the same memory")  # fmt: skip
        self.assertEqual(said("fused(arg0_1, buf0)"), "")
        kernel = kernel.replace("in_ptr0[1]", "0")  # which is not read then
        self.assertEqual(said("fused(arg0_1, arg0_1)"), "")
        self.assertNotIn("//", watched(lambda x: x * 2, torch.ones(2))["code"])

    def test_lanes_that_a_loop_leaves_as_they_are(self):
        code = watched(torch.amin, torch.full((4, 2), 2, dtype=torch.uint8))["code"]
        self.assertRegex(code, r"loadu\(in_ptr0 \+ x0, 8\);  // 8 of (32|64) lanes")
        self.assertNotIn("lanes", watched(torch.amin, torch.ones(4, 2))["code"])

    def test_an_index_has_no_casts(self):
        found = watched(lambda x: x.flip(0), torch.ones(2, dtype=torch.int16))
        self.assertIn("[1 + ((-1)*x0)]", found["code"])

    @unittest.skipUnless("REPRO_MINIFY_ALL_TESTS" in os.environ, "scripts/test.sh --all runs it")
    def test_too_much_is_not_shown(self):
        def several(x):
            return x.sin().cos().tan().sinh().cosh()

        self.assertEqual(watched(several, torch.ones(2))["origins"], [])
        found = watched(lambda x: F.interpolate(x, size=(7, 9), mode="bicubic"), torch.ones(1, 1, 4, 4))
        self.assertEqual((found["language"], found["code"], found["calls"]), ("", "", ""))

    def test_where_a_pass_is(self):
        (found,) = generated.passes_named("reinplace_inplaceable_ops")
        self.assertEqual((found["file"], found["kind"]), ("torch/_inductor/fx_passes/reinplace.py", "pass"))
        self.assertEqual(generated.passes_named("no_such_pass"), [])
        self.assertEqual(generated.passes_named(""), [])

    def test_afterwards_pytorch_is_as_it_was(self):
        before = dict(decomposition.decompositions)
        method = generated.GraphLowering.call_function
        watched(torch.sinh, torch.ones(2))
        self.assertEqual(decomposition.decompositions, before)
        self.assertIs(generated.GraphLowering.call_function, method)


class DecompositionsOfAOTAutograd(unittest.TestCase):
    def test_are_those_of_what_is_called(self):
        side = generated.explanation.Side(lambda x: (F.interpolate(x, scale_factor=[1.3, 1.0]),), [])
        (origin,) = generated.decompositions_of(side, [torch.ones(1, 1, 2, 1)])
        called = "upsample_nearest2d > _compute_upsample_nearest_indices"
        self.assertEqual((origin["function"], origin["kind"]), (called, "core decomposition"))
        self.assertEqual(origin["file"], "torch/_decomp/decompositions.py")


def noted(function, *arguments):
    torch._dynamo.reset()
    with kernel_values.Noting() as noting, generated.Watch() as watch:
        torch.compile(function)(*arguments)
    return watch.shown(noting.kernels)["code"]


class ValuesOfAKernel(unittest.TestCase):
    def test_stand_beside_their_statements(self):
        code = noted(lambda x: torch.abs(x) > 0, torch.tensor([-32768], dtype=torch.int16))
        comments = [line.partition("  // ")[2] for line in code.splitlines() if "auto tmp" in line]
        self.assertEqual(comments, ["-32768", "32768", "0", "true"])

    def test_of_a_vector_are_counted_by_lanes(self):
        code = noted(torch.sinh, torch.ones(4))
        lanes = torch._inductor.cpu_vec_isa.pick_vec_isa().nelements()
        self.assertIn(f"  // 4 lanes 1, {lanes - 4} lanes 0", code)

    def test_of_a_loop_are_shown_in_order(self):
        with torch._inductor.config.patch({"cpp.simdlen": 1}):
            code = noted(torch.abs, torch.tensor([-1.0, 2.5, -3.0, 4.0, 5.0]))
        self.assertIn("  // -1, 2.5, -3, 4, ...", code)

    def test_of_two_kernels_stand_with_their_own(self):
        with torch._inductor.config.patch({"max_fusion_size": 1}):
            code = noted(lambda x: (x + 1) * (x + 1).sum(), torch.tensor([2.0]))
        self.assertIn("// 2", code)
        self.assertIn("// 9", code)


if __name__ == "__main__":
    unittest.main()
