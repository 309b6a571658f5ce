"""Tensors as Python expressions: what is written, and that it gives the tensor to the last bit.

inductor_tensor_text.py FOLDER [TEST ...]        FOLDER is src/backends/inductor
"""

import sys
import unittest
import warnings

sys.path.insert(0, sys.argv.pop(1))

import torch

from tensor_text import same, tensor_text


class Tensors(unittest.TestCase):
    def test_texts(self) -> None:
        half = torch.tensor([0.1, 3.1415])
        for tensor, text in [
            (torch.ones(1, 3), "torch.ones(1, 3)"),
            (torch.zeros(2, dtype=torch.int64), "torch.zeros(2, dtype=torch.int64)"),
            (torch.full((2,), 2147483647, dtype=torch.int32), "torch.full((2,), 2147483647, dtype=torch.int32)"),
            (torch.full((16,), 0.1), "torch.full((16,), 0.1)"),
            (torch.arange(2.0).reshape(1, 1, 1, 2), "torch.arange(2.0).reshape(1, 1, 1, 2)"),
            (torch.arange(4), "torch.arange(4)"),
            (torch.arange(4, dtype=torch.float64) + 1, "torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=torch.float64)"),
            (torch.arange(1.0, 9.0), "torch.arange(1.0, 9.0)"),
            (torch.tensor([0.1, 2.0]), "torch.tensor([0.1, 2.0])"),
            (torch.tensor([[1.0, -2.0], [3.0, 4.5]]), "torch.tensor([[1.0, -2.0], [3.0, 4.5]])"),
            (torch.tensor([0.1, 2, 3, 4]).reshape(2, 1, 2), "torch.tensor([0.1, 2.0, 3.0, 4.0]).reshape(2, 1, 2)"),
            (torch.tensor(1.0), "torch.tensor(1.0)"),
            (torch.tensor(5, dtype=torch.uint8), "torch.tensor(5, dtype=torch.uint8)"),
            (torch.tensor([-0.0, 0.0]), "torch.tensor([-0.0, 0.0])"),
            (torch.full((2,), -0.0), "torch.full((2,), -0.0)"),
            (torch.tensor([float("nan"), -float("inf"), 1e-45]),
             'torch.tensor([float("nan"), float("-inf"), 1e-45])'),
            (torch.tensor([2143289345, 1], dtype=torch.int32).view(torch.float32),
             "torch.tensor([2143289345, 1], dtype=torch.int32).view(torch.float32)"),
            (half.half(), "torch.tensor([0.1, 3.14], dtype=torch.float16)"),
            (half.bfloat16(), "torch.tensor([0.1, 3.14], dtype=torch.bfloat16)"),
            (torch.tensor([0.1, 1 / 3]).double(),
             "torch.tensor([0.10000000149011612, 0.3333333432674408], dtype=torch.float64)"),
            (torch.tensor([True, False]), "torch.tensor([True, False])"),
            (torch.ones(2, dtype=torch.bool), "torch.ones(2, dtype=torch.bool)"),
            (torch.tensor([1 + 2j, 3j]), "torch.tensor([1+2j, 3j])"),
            (torch.tensor([complex(-0.0, 1)]), "torch.tensor([complex(-0.0, 1.0)])"),
            (torch.tensor([1.0, 2.0]).to(torch.float8_e4m3fn), "torch.tensor([1.0, 2.0], dtype=torch.float8_e4m3fn)"),
            (torch.zeros(0, 3), "torch.zeros(0, 3)"),
            (torch.arange(6.0).reshape(2, 3).t(), "torch.arange(6.0).reshape(2, 3).t()"),
            (torch.zeros(3).expand(2, 3), "torch.zeros(3).as_strided((2, 3), (0, 1))"),
            (torch.arange(10)[1::3], "torch.arange(1, 8).as_strided((3,), (3,))"),
            (torch.arange(8.0).reshape(1, 2, 2, 2).to(memory_format=torch.channels_last),
             "torch.arange(8.0).reshape(1, 2, 2, 2).to(memory_format=torch.channels_last)"),
            (torch.ones(1, 3, requires_grad=True), "torch.ones(1, 3, requires_grad=True)"),
            (torch.arange(2.0).requires_grad_(), "torch.arange(2.0).requires_grad_()"),
        ]:  # fmt: skip
            with self.subTest(text):
                self.assertEqual(tensor_text(tensor), text)
                self.assertTrue(same(text, tensor.detach()))

    def test_random_bits(self) -> None:
        torch.manual_seed(0)
        kinds = [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int8, torch.uint8, torch.int16,
                 torch.int32, torch.int64, torch.complex64, torch.complex128, torch.uint16, torch.uint32, torch.uint64,
                 torch.float8_e5m2]  # fmt: skip
        for dtype in kinds:
            for _ in range(10):
                tensor = torch.randint(256, (48,), dtype=torch.uint8).view(dtype)
                shaped = tensor.reshape(-1, 1, 3) if tensor.numel() % 3 == 0 else tensor
                self.assertTrue(same(tensor_text(shaped), shaped), str(shaped))

    def test_what_has_none(self) -> None:
        for tensor in (torch.eye(2).to_sparse(), torch.empty(2, device="meta")):
            with self.assertRaises(ValueError):
                tensor_text(tensor)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    unittest.main(warnings="ignore")
