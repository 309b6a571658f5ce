"""torch.while_loop, which in eager ends here whatever its condition says: a candidate may lack what ends it, and each
of them would run until the time of its check is up."""

import functools
import itertools

from torch._C import DispatchKey
from torch._higher_order_ops.while_loop import while_loop_op, while_loop_stack_output_op

MOST_TURNS = 10_000  # a second of a small body


def end_loops():
    """From here on a loop in this process raises RuntimeError instead of making more turns."""
    key = DispatchKey.CompositeExplicitAutograd
    for operator in (while_loop_op, while_loop_stack_output_op):
        in_eager = operator.py_kernels.pop(key)
        operator._dispatch_cache.clear()
        operator.py_impl(key)(functools.partial(ended, in_eager))


def ended(in_eager, condition, *rest, **keywords):
    turns = itertools.count()

    def counted(*values):
        if next(turns) > MOST_TURNS:
            raise RuntimeError(f"torch.while_loop has not ended after {MOST_TURNS} turns")
        return condition(*values)

    return in_eager(counted, *rest, **keywords)
