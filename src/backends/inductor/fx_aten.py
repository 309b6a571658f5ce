"""Calls of ATen that users make by another name: the same call, as they make it."""

from typing import Any

import torch
from torch.fx import Node

from fx_signatures import Arguments

aten = torch.ops.aten
INTERPOLATIONS = {
    "upsample_nearest1d": "nearest", "upsample_nearest2d": "nearest", "upsample_nearest3d": "nearest",
    "_upsample_nearest_exact1d": "nearest-exact", "_upsample_nearest_exact2d": "nearest-exact",
    "_upsample_nearest_exact3d": "nearest-exact", "upsample_linear1d": "linear", "upsample_bilinear2d": "bilinear",
    "upsample_trilinear3d": "trilinear", "upsample_bicubic2d": "bicubic",
}  # fmt: skip

SAME_ARGUMENTS = {  # functions in Python that take them in order
    "max_pool1d", "max_pool2d", "max_pool3d", "dropout", "hardtanh",
}  # fmt: skip
PADDINGS = {f"{kind}_pad{n}d": mode for kind, mode in (("reflection", "reflect"), ("replication", "replicate"))
            for n in (1, 2, 3)}  # fmt: skip

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
        plain = transposed is False and not any(output_padding) and len(args[3]) in (1, 2, 3)
        if plain:
            return getattr(aten, f"conv{len(args[3])}d").default, ((*first, groups), {})
    if name in ("layer_norm", "group_norm") and len(args) == 6 and not kwargs:
        return target, (args[:5], {})  # the last one, whether cuDNN may be used, is not read
    if name == "batch_norm" and len(args) == 9 and not kwargs and args[5] is False:
        value, weight, bias, mean, variance, *rest, cudnn = args
        if cudnn is torch.backends.cudnn.enabled or not torch.cuda.is_available():
            return torch.nn.functional.batch_norm, ((value, mean, variance, weight, bias, *rest), {})
    if name in SAME_ARGUMENTS and overload == "default":
        return getattr(torch.nn.functional, name), arguments
    if name in PADDINGS and not kwargs:
        return torch.nn.functional.pad, (args, {"mode": PADDINGS[name]})
    if name == "einsum" and len(args) == 2 and not kwargs and isinstance(args[1], (list, tuple)):
        return torch.einsum, ((args[0], *args[1]), {})
    if name == "div" and overload == "Tensor_mode":  # Python takes a number there too
        return torch.div, arguments
    if name == "lift_fresh_copy":
        return aten.clone.default, arguments
    if name in LOSSES and overload == "default" and not kwargs:
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
