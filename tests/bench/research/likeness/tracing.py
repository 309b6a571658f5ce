"""TorchScript of a module by tracing, with convolutions as users' scripted models have them.

A trace records `aten::_convolution` where the module calls conv2d. Autocast on the CPU knows conv2d and not
`_convolution`: a traced model would run its convolutions in float32, where the module runs them in bfloat16. Scripted
functions are recorded as calls, so while tracing these stand in for the convolutions of torch.nn.functional.
"""

from typing import List, Optional
from unittest import mock

import torch
import torch.nn.functional as F
from torch import Tensor


@torch.jit.script
def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Optional[Tensor],
    stride: List[int],
    padding: List[int],
    dilation: List[int],
    groups: int,
):
    return torch.conv1d(input, weight, bias, stride, padding, dilation, groups)


@torch.jit.script
def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Optional[Tensor],
    stride: List[int],
    padding: List[int],
    dilation: List[int],
    groups: int,
):
    return torch.conv2d(input, weight, bias, stride, padding, dilation, groups)


@torch.jit.script
def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Optional[Tensor],
    stride: List[int],
    padding: List[int],
    output_padding: List[int],
    groups: int,
    dilation: List[int],
):
    return torch.conv_transpose2d(input, weight, bias, stride, padding, output_padding, groups, dilation)


def traced(module, inputs):
    with torch.no_grad(), mock.patch.multiple(F, conv1d=conv1d, conv2d=conv2d, conv_transpose2d=conv_transpose2d):
        return torch.jit.trace(module, inputs, check_trace=False)
