"""Functions that are compiled on the device, as a user of torch.compile has them, with the inputs of one call."""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F


def mirrored_state(x: Any, weight: Any, state: Any) -> Any:
    h = F.gelu(F.linear(x, weight))
    torch._foreach_mul_([state], [state.flip(0)])
    return F.layer_norm(h + state, (4,)), state


def shifted_history(x: Any, history: Any) -> Any:
    y = torch.tanh(x @ x.t())
    history[1:] = history[:-1].clone()
    history[0] = y.sum()
    return torch.softmax(y, -1), history


def kept_then_decayed(x: Any, last: Any, state: Any) -> Any:
    y = F.silu(x) + state
    last[:] = state
    state.mul_(0.0)
    return y.mean(-1), last, state


def halves_of_tokens(ids: Any, table: Any) -> Any:
    product = ids.view(torch.int32) * 3
    product.add_(1)
    ids[:] = 0
    return F.embedding(product.view(torch.int64) % 7, table), product


def negated_windows(x: Any) -> Any:
    frames = x.unfold(1, 4, 2)
    frames.neg_()
    return x, torch.fft.rfft(x).abs()


def hashed(ids: Any, x: Any) -> Any:
    mixed = ids.int() * 1664525 + 1013904223
    return torch.where(mixed + 2147483600 > 0, x, -x).cumsum(0)


def pooled(x: Any) -> Any:
    y = F.avg_pool2d(F.relu(x), 3, 2, ceil_mode=True)
    return F.interpolate(y, scale_factor=(1.3, 1.0)), y.amax((2, 3))


def attended(x: Any, weight: Any) -> Any:
    with torch.autocast(x.device.type, dtype=torch.float16):
        q = F.linear(x, weight)
        return F.scaled_dot_product_attention(q, q, q).float() + x


def looked_up(ids: Any, table: Any, last: Any, state: Any) -> Any:
    """Without `% 7` the card's kernel asserts, and its context is lost."""
    y = torch.tanh(table[ids % 7]) + state
    last[:] = state
    state.mul_(0.0)
    return y.mean(-1), last, state


def floats(device: str, *sizes: int) -> Any:
    return torch.randn(*sizes, generator=torch.Generator().manual_seed(0)).to(device)


def numbers(device: str, size: int) -> Any:
    return torch.randint(0, 2**31 - 1, (size,), generator=torch.Generator().manual_seed(0)).to(device)


PROGRAMS: dict[str, tuple[Callable[..., Any], Callable[[str], tuple[Any, ...]]]] = {
    "mirrored_state": (mirrored_state, lambda d: (floats(d, 3, 4), floats(d, 4, 4), floats(d, 4))),
    "shifted_history": (shifted_history, lambda d: (floats(d, 5, 5), floats(d, 6))),
    "kept_then_decayed": (kept_then_decayed, lambda d: (floats(d, 3, 8), floats(d, 8), floats(d, 8))),
    "halves_of_tokens": (halves_of_tokens, lambda d: (numbers(d, 8), floats(d, 7, 4))),
    "looked_up": (looked_up, lambda d: (numbers(d, 3), floats(d, 7, 8), floats(d, 8), floats(d, 8))),
    "negated_windows": (negated_windows, lambda d: (floats(d, 2, 16),)),
    "hashed": (hashed, lambda d: (numbers(d, 64), floats(d, 64))),
    "pooled": (pooled, lambda d: (floats(d, 1, 2, 10, 10),)),
    "attended": (attended, lambda d: (floats(d, 2, 2, 8, 16), floats(d, 16, 16))),
}
