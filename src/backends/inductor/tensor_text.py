"""The shortest Python expression that gives a tensor exactly: its dtype, shape, strides and every bit."""

import cmath
import itertools
import math
from collections.abc import Iterator
from typing import Any

import torch

DIGITS = {torch.float16: 5, torch.bfloat16: 4, torch.float32: 9, torch.float64: 17}
BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def tensor_text(tensor: torch.Tensor) -> str:
    """An expression that needs `torch` alone, for a CPU whose default dtype is float32. Data that NaNs carry are kept.
    Raises ValueError for a tensor that has none (sparse, quantised, a subclass, on the device "meta")."""
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter) or tensor.layout != torch.strided:
        raise ValueError(f"a {type(tensor).__name__} of the layout {tensor.layout} has no literal")
    if tensor.is_quantized or tensor.is_meta:
        raise ValueError("a tensor without plain data has no literal")
    plain = tensor.detach().cpu().resolve_conj().resolve_neg()
    text = next(strided(plain), None)
    if text is None:
        raise ValueError(f"a tensor of {plain.dtype} has no literal")
    return requiring_grad(text) if tensor.requires_grad else text


def requiring_grad(text: str) -> str:
    made, _, arguments = text.partition("(")
    one_call = made.startswith("torch.") and text.endswith(")") and ")." not in arguments and made != "torch.arange"
    return f"{text[:-1]}, requires_grad=True)" if one_call else text + ".requires_grad_()"


def same(text: str, tensor: torch.Tensor) -> bool:
    """True if the expression gives this very tensor."""
    try:
        known = {"float": float, "complex": complex, "__import__": __import__}  # torch imports parts of it as it goes
        made = eval(text, {"torch": torch, "__builtins__": known})
    except (RuntimeError, TypeError, ValueError, OverflowError, NotImplementedError):
        return False
    if (made.dtype, made.shape, made.stride()) != (tensor.dtype, tensor.shape, tensor.stride()):
        return False
    return bool(torch.equal(bits(made), bits(tensor)))


def bits(tensor: torch.Tensor) -> torch.Tensor:
    flat = tensor.contiguous().reshape(-1)
    flat = torch.view_as_real(flat).reshape(-1) if flat.is_complex() else flat
    return flat.view(BITS[flat.element_size()])


def strided(tensor: torch.Tensor) -> Iterator[str]:
    """Expressions of a tensor whose strides may be any, best first."""
    standard = torch.empty(tensor.shape, device="meta").stride()
    if tensor.stride() == standard:
        yield from (text for text in contiguous(tensor) if same(text, tensor))
        return
    turned = []
    if tensor.dim() == 2 and tensor.t().is_contiguous():
        turned = [text + ".t()" for text in contiguous(tensor.t())]
    for form, dimensions in (("channels_last", 4), ("channels_last_3d", 5)):
        if tensor.dim() == dimensions and tensor.is_contiguous(memory_format=getattr(torch, form)):
            turned += [f"{text}.to(memory_format=torch.{form})" for text in contiguous(tensor.contiguous())]
    span = 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride())) if tensor.numel() else 0
    flat = tensor.as_strided((span,), (1,), tensor.storage_offset())
    place = f".as_strided({tuple(tensor.shape)}, {tuple(tensor.stride())})"
    turned += [text + place for text in contiguous(flat)]
    yield from (text for text in turned if same(text, tensor))


def contiguous(tensor: torch.Tensor) -> Iterator[str]:
    """Expressions that give these elements in this shape, if they are right, best first; the caller tries
    them."""
    shape = ", ".join(map(str, tensor.shape))
    size = shape if tensor.dim() else "()"
    flat = tensor.reshape(-1)
    reshaped = f".reshape({shape})" if tensor.dim() else ".reshape(())"
    named = f", dtype={tensor.dtype}"
    if flat.numel() == 0:
        yield f"torch.zeros({size}{'' if tensor.dtype == torch.float32 else named})"
        return
    if tensor.dtype in BITS.values() or tensor.dtype in DIGITS or tensor.is_complex() or tensor.dtype == torch.bool:
        pattern = bits(flat).reshape(flat.numel(), -1)
        if tensor.dim() and bool((pattern == pattern[0]).all()):
            value = next(elements(flat[:1]))
            if value in ("0", "0.0", "1", "1.0", "False", "True", "0j", "1+0j"):
                made = "zeros" if value in ("0", "0.0", "False", "0j") else "ones"
                yield f"torch.{made}({size}{'' if tensor.dtype == torch.float32 else named})"
            if tensor.shape != (1,):
                yield f"torch.full({tuple(tensor.shape)}, {value}{dtypes(tensor, value)})"
        if flat.numel() > 1 and not tensor.is_complex() and tensor.dtype != torch.bool:
            yield from (text + (reshaped if tensor.dim() > 1 else "") for text in ranges(flat))
        texts = list(elements(flat))
        dtype = dtypes(tensor, " ".join(texts))
        if tensor.dim() > 2:
            yield f"torch.tensor([{', '.join(texts)}]{dtype}){reshaped}"
        yield f"torch.tensor({nested(texts, list(tensor.shape))}{dtype})"
    elif tensor.dtype not in BITS.values():  # float8, uint16 and others
        texts = [number(value) for value in flat.tolist()]
        yield f"torch.tensor({nested(texts, list(tensor.shape))}{named})"
    of_bits = ", ".join(map(str, bits(flat).tolist()))
    held = "" if bits(flat).dtype == torch.int64 else f", dtype={bits(flat).dtype}"
    yield f"torch.tensor([{of_bits}]{held}).view({tensor.dtype})" + (reshaped if tensor.dim() != 1 else "")


def dtypes(tensor: torch.Tensor, values: str) -> str:
    """The keyword that has to stand beside these values: none where they mean the dtype."""
    mark = {torch.float32: "", torch.int64: "", torch.complex64: "j", torch.bool: "e"}.get(tensor.dtype)
    meant = mark is not None and (mark in values or "complex" in values)
    return "" if meant else f", dtype={tensor.dtype}"


def ranges(flat: torch.Tensor) -> Iterator[str]:
    """The elements as a range that goes up by one, if it is right."""
    first, last = flat[0].item(), flat[-1].item()
    if first != 0 and flat.numel() < 5:  # a list is as easily read
        return
    if not math.isfinite(first) or not math.isfinite(last) or last - first != flat.numel() - 1:
        return
    if first == int(first):
        named = "" if flat.dtype in (torch.float32, torch.int64) else f", dtype={flat.dtype}"
        start, stop = int(first), int(first) + flat.numel()
        dot = ".0" if flat.dtype == torch.float32 else ""
        yield f"torch.arange({f'{start}{dot}, ' if start else ''}{stop}{dot}{named})"


def nested(texts: list[str], shape: list[int]) -> str:
    if not shape:
        return texts[0]
    step = len(texts) // shape[0]
    parts = (nested(texts[at : at + step], shape[1:]) for at in range(0, len(texts), step))
    return f"[{', '.join(parts)}]"


def elements(flat: torch.Tensor) -> Iterator[str]:
    """Each element with as few digits as give the same number."""
    values = flat.tolist()
    if flat.dtype not in DIGITS:
        for text in map(number, values):
            yield text[1:-1] if text.startswith("(") else text  # an element needs no brackets
        return
    short: list[Any] = list(values)
    waiting = [at for at, value in enumerate(values) if math.isfinite(value)]
    for digits in range(1, DIGITS[flat.dtype]):
        guesses = [float(f"{values[at]:.{digits}g}") for at in waiting]
        equal = (torch.tensor(guesses, dtype=flat.dtype) == flat[waiting]).tolist()
        for at, guess in itertools.compress(zip(waiting, guesses), equal):
            short[at] = guess
        waiting = list(itertools.compress(waiting, [not found for found in equal]))
        if not waiting:
            break
    yield from map(number, short)


def number(value: complex) -> str:
    """Python's literal of a number; a call where it has none, or one that reads back with a zero of the other sign."""
    text = repr(value)
    if isinstance(value, complex) and not (cmath.isfinite(value) and repr(eval(text)) == text):
        return f"complex({number(value.real)}, {number(value.imag)})"
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{text}")'
    return text
