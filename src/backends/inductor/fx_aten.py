"""Calls of ATen that users make by another name: the same call, as they make it."""

import math
from typing import Any

import torch
from torch.fx import Node

from fx_signatures import Arguments, sizes_of

aten = torch.ops.aten
INTERPOLATIONS = {
    "upsample_nearest1d": "nearest", "upsample_nearest2d": "nearest", "upsample_nearest3d": "nearest",
    "_upsample_nearest_exact1d": "nearest-exact", "_upsample_nearest_exact2d": "nearest-exact",
    "_upsample_nearest_exact3d": "nearest-exact", "upsample_linear1d": "linear", "upsample_bilinear2d": "bilinear",
    "upsample_trilinear3d": "trilinear", "upsample_bicubic2d": "bicubic",
}  # fmt: skip

SAME_ARGUMENTS = {  # functions in Python that take them in order
    "max_pool1d", "max_pool2d", "max_pool3d", "dropout", "hardtanh", "celu", "selu", "alpha_dropout",
    "rms_norm",
}  # fmt: skip
OTHER_NAMES = {  # likewise
    "log_sigmoid": "logsigmoid", "im2col": "unfold", "col2im": "fold", "_adaptive_avg_pool2d": "adaptive_avg_pool2d",
    "_adaptive_avg_pool3d": "adaptive_avg_pool3d", "affine_grid_generator": "affine_grid",
}  # fmt: skip
PADDINGS = {f"{kind}_pad{n}d": mode for kind, mode in (("reflection", "reflect"), ("replication", "replicate"))
            for n in (1, 2, 3)}  # fmt: skip

SAMPLES = ("bilinear", "nearest", "bicubic")  # in ATen, numbers from 0
BORDERS = ("zeros", "border", "reflection")
REDUCTIONS = ("none", "mean", "sum")  # in ATen, numbers from 0
LOSSES = {  # their parameters in ATen
    "cross_entropy_loss": ("input", "target", "weight", "reduction", "ignore_index", "label_smoothing"),
    "nll_loss_nd": ("input", "target", "weight", "reduction", "ignore_index"),
    "mse_loss": ("input", "target", "reduction"),
    "l1_loss": ("input", "target", "reduction"),
    "smooth_l1_loss": ("input", "target", "reduction", "beta"),
    "huber_loss": ("input", "target", "reduction", "delta"),
    "binary_cross_entropy": ("input", "target", "weight", "reduction"),
    "binary_cross_entropy_with_logits": ("input", "target", "weight", "pos_weight", "reduction"),
}


def as_users_call(target: Any, arguments: Arguments) -> tuple[Any, Arguments]:
    """The function or overload to call, and with what; as they are where there is no other that does the same."""
    args, kwargs = arguments
    name, overload = target._schema.name.removeprefix("aten::"), target._overloadname
    if name in INTERPOLATIONS and overload == "vec" and not kwargs:
        return torch.nn.functional.interpolate, interpolation(name, args)
    if name == "convolution" and overload == "default" and len(args) == 9 and not kwargs:
        *first, transposed, output_padding, groups = args
        sizes = sizes_of(args[1])  # of the weight; one number stands for all of a list in the operator, not in conv2d
        fits = sizes is None or len(sizes) == len(args[3]) + 2
        plain = transposed is False and not any(output_padding) and fits and len(args[3]) in (1, 2, 3)
        if plain:
            return getattr(aten, f"conv{len(args[3])}d").default, ((*first, groups), {})
    if name in ("layer_norm", "group_norm") and len(args) == 6 and not kwargs:
        return target, (args[:5], {})  # the last one, whether cuDNN may be used, is not read
    if name == "batch_norm" and len(args) == 9 and not kwargs and args[5] is False:
        value, weight, bias, mean, variance, *rest, cudnn = args
        if cudnn is torch.backends.cudnn.enabled or not torch.cuda.is_available():
            return torch.nn.functional.batch_norm, ((value, mean, variance, weight, bias, *rest), {})
    refused = name == "hardtanh" and bounds_cross(args)
    if name in SAME_ARGUMENTS and overload == "default" and not kwargs and not refused:
        given = tuple(map(one_for_all, args)) if name.startswith("max_pool") else args
        return getattr(torch.nn.functional, name), (given, {})
    if name in OTHER_NAMES and overload == "default" and not kwargs and not pools_to_one(name, args):
        given = args if name == "affine_grid_generator" else tuple(map(one_for_all, args))
        return getattr(torch.nn.functional, OTHER_NAMES[name]), (given, {})
    if overload == "default" and not kwargs and (call := functional(name, args)):
        return call
    if name in PADDINGS and not kwargs:
        return torch.nn.functional.pad, (args, {"mode": PADDINGS[name]})
    if name == "einsum" and len(args) == 2 and not kwargs and isinstance(args[1], (list, tuple)):
        return torch.einsum, ((args[0], *args[1]), {})
    if name == "div" and overload == "Tensor_mode":  # Python takes a number there too
        return torch.div, arguments
    if name.startswith("_foreach_") and hasattr(torch, name):  # which tells its overloads apart by their arguments
        return getattr(torch, name), arguments
    if name == "lift_fresh_copy":
        return aten.clone.default, arguments
    is_entropy = name == "binary_cross_entropy" and len(args) > 1
    broadcasts = is_entropy and sizes_of(args[0]) != sizes_of(args[1])  # F refuses it
    if name in LOSSES and overload == "default" and not kwargs and not broadcasts:
        return getattr(torch.nn.functional, name.removesuffix("_nd").replace("cross_entropy_loss", "cross_entropy")), (
            (args[:2], loss(LOSSES[name], args)))  # fmt: skip
    if name == "_to_copy" and len(args) == 1 and set(kwargs) == {"dtype"}:
        return aten.to.dtype, ((args[0], kwargs["dtype"], False, True), {})
    if name in ("_softmax", "_log_softmax") and len(args) == 3 and args[2] is False:
        return getattr(aten, name[1:]).int, (args[:2], {})
    if name.endswith("_") and overload == "Tensor" and len(args) == 2 and isinstance(args[1], (int, float)):
        packet = getattr(aten, name)
        if "Scalar" in packet.overloads():
            return packet.Scalar, arguments
    return target, arguments


def bounds_cross(args: tuple[Any, ...]) -> bool:
    """True for what F.hardtanh refuses, and the operator takes."""
    low = args[1] if len(args) > 1 else -1.0
    high = args[2] if len(args) > 2 else 1.0
    return not (type(low) in (int, float) and type(high) in (int, float) and low < high)


def one_for_all(value: Any) -> Any:
    """One number where a list has that number at each of its places."""
    alike = isinstance(value, (list, tuple)) and all(type(x) is int for x in value) and len(set(value)) == 1
    return value[0] if alike else value


def pools_to_one(name: str, args: tuple[Any, ...]) -> bool:
    """Returns True where torch.nn.functional calls another operator, the mean."""
    return name.startswith("_adaptive_avg_pool") and set(args[1]) == {1}


def functional(name: str, args: tuple[Any, ...]) -> tuple[Any, Arguments] | None:
    """The call of torch.nn.functional that takes what an operator takes in another order, or by other words."""
    functions = torch.nn.functional
    if name == "constant_pad_nd" and (len(args) < 3 or exact_as_float(args[2])):
        return functions.pad, (args[:2], {"value": args[2]} if args[2:] and str(args[2]) not in ("0", "0.0") else {})
    if name == "embedding" and not any(args[3:]) and not (args[2:] and beyond(args[0], args[2])):
        return functions.embedding, ((args[1], args[0]), {"padding_idx": args[2]} if args[2:] and args[2] >= 0 else {})
    if name == "grid_sampler" and args[2] in range(3) and args[3] in range(3):
        mode, border = SAMPLES[args[2]], BORDERS[args[3]]
        return functions.grid_sample, (args[:2], {"mode": mode, "padding_mode": border, "align_corners": args[4]})
    if name == "instance_norm" and not (args[5] and math.prod((sizes_of(args[0]) or (2, 2, 2))[2:]) == 1):
        value, weight, bias, mean, variance, *rest, _ = args
        return functions.instance_norm, ((value, mean, variance, weight, bias, *rest), {})
    if name == "elu" and len(args) < 3:
        return functions.elu, (args, {})
    if name in INTERPOLATIONS and len(args) == 2:
        return functions.interpolate, interpolation(name, (*args, None))
    return None


def beyond(weight: Any, row: int) -> bool:
    """True for a row that is not sure to be there: F.embedding refuses it, and the operator takes it."""
    sizes = sizes_of(weight)
    return row >= 0 and (not sizes or row >= sizes[0])


def exact_as_float(value: Any) -> bool:
    """True for a number that F.pad, which takes a float, leaves as it is."""
    return isinstance(value, float) or (isinstance(value, int) and abs(value) <= 2**53)


def interpolation(name: str, args: tuple[Any, ...]) -> Arguments:
    """The arguments of F.interpolate, which calls this operator with what it is given."""
    value, size, *corners, factors = args
    kwargs: dict[str, Any] = {}
    for key, given in (("size", size), ("scale_factor", factors)):
        if given is not None:
            parts = [given] if isinstance(given, Node) else list(given)
            alike = all(type(part) in (int, float) and part == parts[0] for part in parts)
            kwargs[key] = parts[0] if alike and parts else given
    if INTERPOLATIONS[name] != "nearest":
        kwargs["mode"] = INTERPOLATIONS[name]
    if corners and corners[0]:
        kwargs["align_corners"] = True
    return (value,), kwargs


def loss(parameters: tuple[str, ...], args: tuple[Any, ...]) -> dict[str, Any]:
    """The keywords of a loss in Python."""
    given = dict(zip(parameters[2:], args[2:]))
    if given.get("reduction") in range(len(REDUCTIONS)):
        given["reduction"] = REDUCTIONS[given["reduction"]]
    return given
