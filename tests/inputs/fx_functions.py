"""Functions of two float32 vectors of six numbers, with calls that a TorchScript trace would not keep as they are."""

import math
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint


def set_part(x: Any, y: Any) -> Any:
    x[1:] = y[1:]
    x[x > 0.5] = 0
    return x + 1


def augmented(x: Any, y: Any) -> Any:
    x += y
    x *= 2
    x -= 1
    return x.clone()


def foreach(x: Any, y: Any) -> Any:
    torch._foreach_mul_([x, y], [y.flip(0), x])
    return torch._foreach_add([x, y], 1)


def halves(x: Any, y: Any) -> Any:
    view = x.view(torch.int32)
    view += 1
    return view.view(torch.float32), y


def through_view(x: Any, y: Any) -> Any:
    part = x[2:4]
    part.mul_(3)
    return x.sum(), part


def written_out(x: Any, y: Any) -> Any:
    out = torch.empty_like(x)
    torch.add(x, y, out=out)
    return out


def named(x: Any, y: Any) -> Any:
    values, indices = torch.max(x.reshape(2, 3), 1)
    return values, indices, torch.sort(y).values


def parts(x: Any, y: Any) -> Any:
    first, *others = torch.split(x, 2)
    return first + others[-1], torch.cat(others)


def pooled(x: Any, y: Any) -> Any:
    values, indices = F.max_pool1d(x[None], 2, return_indices=True)
    return values, indices, F.avg_pool1d(x[None, None], 2, ceil_mode=True)


def numbers(x: Any, y: Any) -> Any:
    return torch.full((), math.inf), torch.full((2,), -math.inf), torch.zeros(2, dtype=torch.complex64) + 1j, x * -0.0


def dtypes(x: Any, y: Any) -> Any:
    return x.half().float(), y.to(torch.bfloat16), x.to(memory_format=torch.preserve_format)


def indexed(x: Any, y: Any) -> Any:
    return x[None, ..., ::2], x[y.argsort()], x[[0, 2]]


def einsum(x: Any, y: Any) -> Any:
    return torch.einsum("i,j->ij", x, y)


def no_results(x: Any, y: Any) -> None:
    x.add_(y)


def norms(x: Any, y: Any) -> Any:
    return F.layer_norm(x, (6,), weight=y), F.gelu(x, approximate="tanh"), F.softmax(y, dim=-1, dtype=torch.float64)


def attention(x: Any, y: Any) -> Any:
    query, key = x.view(1, 1, 3, 2), y.view(1, 1, 3, 2)
    return F.scaled_dot_product_attention(query, key, key, is_causal=True)


def interpolated(x: Any, y: Any) -> Any:
    return F.interpolate(x[None, None], scale_factor=1.3, mode="nearest")


def drawn(x: Any, y: Any) -> Any:
    return F.dropout(x, 0.5, True) + torch.rand(6), torch.randn_like(y)


def fills(x: Any, y: Any) -> Any:
    x.fill_(3)
    x[0] = y[1]
    return x.masked_fill_(y > 0.5, 7.0)


def scalars(x: Any, y: Any) -> Any:
    return 2 / x, x // 0.3, 3 - y, -x, abs(y), x**2, ~(x > y), x @ y


def scattered(x: Any, y: Any) -> Any:
    index = torch.tensor([0, 2, 4])
    return x.index_add_(0, index, y[:3]), torch.scatter(y, 0, index, 1.0)


def copied(x: Any, y: Any) -> Any:
    x[:] = y[:]
    y.add_(1)
    return x


def overlapping(x: Any, y: Any) -> Any:
    return (x + 1).unfold(0, 2, 1), torch.as_strided(y, (2, 2), (1, 1))


def resized(x: Any, y: Any) -> Any:
    return torch.stack([x, y], dim=1).permute(1, 0).contiguous(), F.pad(x, (1, 2), value=0.5)


def complex_parts(x: Any, y: Any) -> Any:
    z = torch.complex(x, y)
    return z.real, torch.view_as_real(z), z.T


def conditional(x: Any, y: Any) -> Any:
    return torch.where(x > y, x, y), torch.clamp(x, min=0.2, max=None), x.clamp_(max=0.5)


def statistics(x: Any, y: Any) -> Any:
    return torch.var_mean(x), torch.aminmax(y), torch.topk(x, 2)


def texts(x: Any, y: Any) -> Any:
    return torch.div(x, y, rounding_mode="floor"), torch.linalg.norm(x.reshape(2, 3), ord="fro")


def same_twice(x: Any, y: Any) -> Any:
    x.mul_(2)
    return x, x, y


def fft(x: Any, y: Any) -> Any:
    return torch.fft.rfft(x), torch.special.expit(y)


def switched(x: Any, y: Any) -> Any:
    with torch.no_grad():
        z = x * 2
        with torch.enable_grad():
            y = y + z
    return y * z


def cast(x: Any, y: Any) -> Any:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        z = x[None] @ y[:, None]
        with torch.autocast("cpu", enabled=False):
            y = y @ x
    return z, y * x


def branched(x: Any, y: Any) -> Any:
    return torch.cond(x.sum() > y.sum(), lambda x, y: (x + 1, y * 2), lambda x, y: (x.sin() - 0.5, y * 3), (x, y))


def looped(x: Any, y: Any) -> Any:
    from torch._higher_order_ops import while_loop

    return while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 1.5), (torch.tensor(0), x))


def checkpointed(x: Any, y: Any) -> Any:
    return checkpoint(lambda x: torch.tanh(x) * y, x, use_reentrant=False)


def nested_results(x: Any, y: Any) -> Any:
    weight = torch.eye(2).repeat(3, 1)
    rows = x.reshape(3, 1, 2)
    found, weights = F.multi_head_attention_forward(
        rows, rows, rows, 2, 1, weight, y, None, None, False, 0.0, weight[:2], y[:2], need_weights=False
    )
    return found, weights


def mapped(x: Any, y: Any) -> Any:
    rows = torch.vmap(lambda a, b: (a.sin() * b, a + y.sum()), in_dims=(0, None), out_dims=(1, 0))(x, y)
    return rows, torch.vmap(lambda a: torch.vmap(lambda b: a * b)(y))(x)


def gradients(x: Any, y: Any) -> Any:
    def loss(a: Any, b: Any) -> Any:
        return (a.sin() * b).sum(), a + 1

    both, shifted = torch.func.grad(loss, argnums=(0, 1), has_aux=True)(x, y)
    rows = torch.vmap(torch.func.grad(torch.func.grad(torch.sin)))(x)
    twice = torch.func.grad(lambda a: torch.func.grad(lambda b: (b * y).sin().sum())(a).pow(2).sum())(x)
    return both, shifted, rows, twice, torch.func.grad_and_value(lambda a: (a * y).sum())(x)


def rows_of_gradients(x: Any, y: Any) -> Any:
    return torch.vmap(torch.func.grad(lambda a, b: (a * b).sin().sum()), in_dims=(0, None))(x, y[0])


def jacobians(x: Any, y: Any) -> Any:
    out, pull = torch.func.vjp(lambda a: (a.sin(), a * y), x)
    moved = torch.func.jvp(lambda a: (a.cos() * y, a), (x,), (y,))
    rows, columns = torch.func.jacrev(torch.sin)(x), torch.func.jacfwd(lambda a: a * y)(x)
    return out, pull((y, x)), moved, rows, columns, torch.func.hessian(lambda a: a.sin().sum())(x)


def kernels(x: Any, y: Any) -> Any:
    query = x.view(1, 1, 3, 2)
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        found = F.scaled_dot_product_attention(query, query, y.view(1, 1, 3, 2))
    return found * 2, F.scaled_dot_product_attention(query, query, query)


def arrays(x: Any, y: Any) -> Any:
    made = np.sin(x.numpy()) + np.linalg.norm(y.numpy()) * np.float32(2)
    made[0] = 1
    return torch.from_numpy(made.reshape(2, 3).sum(axis=1)), torch.from_numpy(made.reshape(2, 3).T)


def large(x: Any, y: Any) -> Any:
    return x + torch.full((6,), 1e10), y * 3e16


def running_statistics(x: Any, y: Any) -> Any:
    """Writes the statistics, of which PyTorch's version counters say nothing."""
    normed = F.batch_norm(x.view(2, 3), y[:3], y[3:], training=True)
    return normed, y * 2


def unread_statistics(x: Any, y: Any) -> Any:
    F.batch_norm(x.view(2, 3), y[:3], y[3:], training=True)
    return y * 2


def signed_zeros(x: Any, y: Any) -> Any:
    return 1 / x.new_full((2,), -0.0), 1 / x.new_full((2,), 0.0)


FUNCTIONS = [
    *(set_part, augmented, foreach, halves, through_view, written_out, named, parts, pooled, numbers, dtypes, indexed),
    *(einsum, no_results, norms, attention, interpolated, drawn, fills, scalars, scattered, copied, overlapping),
    *(resized, complex_parts, conditional, statistics, texts, same_twice, fft),
    *(switched, cast, branched, looped, checkpointed, nested_results, mapped, gradients, jacobians),
    *(kernels, arrays, rows_of_gradients, large, running_statistics, unread_statistics, signed_zeros),
]
