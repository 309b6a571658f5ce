"""A table of TorchScript: the translation for `inductor` gives what torch.jit gives, as Python source (translate.py)
and as an FX graph (fx_graph.py) where that covers it.

    inductor_translation.py FOLDER [TEST ...]        FOLDER is src/backends/inductor
"""

import math
import sys
import tempfile
import unittest
import warnings
from enum import Enum
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple, Union  # noqa: F401  (names that generated sources may say)

sys.path.insert(0, sys.argv.pop(1))

import torch
from torch import Tensor

from calls import literal
from module import make_module
import fx_graph
from fx_compiled import FxCompiled
from fx_graph import Uncovered

# Each is the body of forward(self, x: Tensor, y: Tensor); n is 3, m is 4, f is 3.0: known only once x is.
SNIPPETS = {
    "integers": """
        return (
            x, [n + m, n - m, n * m, n // m, -n // m, n % m, -n % m, n ** m, abs(-n), -n, n ^ m, n & m, n | m,
            n << m, m >> 1]
        )""",
    "division": """
        return (
            x, [n / m, f / m, n / f, f // 2.5, -f // 2.5, f % 2.5, -f % 2.5, f * 2, f - n, float(n) ** 0.5,
            -f]
        )""",
    "powers": "return x, [math.pow(n, m), f ** 2, 2 ** f, math.pow(f, 0.5)], n ** -1 * 1.0, 2 ** m",
    "comparisons": """
        return (
            x, [n == m, n != m, n < m, n <= m, n > m, n >= m, f == n, f < m, f >= 2.5, not (n == m),
            n == 3 and m == 4 or False]
        )""",
    "strings compared": """
        s = str(n)
        return x, [s == '3', s != '3', s < '4', s <= '3', s > '2', s >= '4']""",
    "lists compared": "return x, [x.size() == y.size(), x.size() != y.size(), [f] == [3.0], [str(n)] != ['3']]",
    "conversions": """
        return (
            x, int(f), float(n), bool(n), bool(f - 3), int(n > 2), float(n > 2), int('12'), float('1.5'),
            complex(n, f)
        )""",
    "read from tensors": """
        t = x.sum()
        return x, int(t), float(t), bool(t > 0), t.item(), int(x[0, 0] * 0) + n""",
    "rounding": """
        return (
            x, [round(f + 0.5), round(f * 0.5)], math.floor(f / 2), math.ceil(f / 2), math.floor(-f / 2),
            int(-f / 2)
        )""",
    "mathematics": """
        return (
            x, [math.sqrt(n), math.sqrt(f), math.sin(f), math.cos(n), math.tan(f), math.asin(f / 4),
            math.acos(f / 4), math.atan(f)]
        )""",
    "mathematics 2": """
        return (
            x, [math.exp(n), math.expm1(f), math.log(n), math.log(f, 2.0), math.log10(f), math.log1p(f),
            math.atan2(f, n), math.sinh(f)]
        )""",
    "mathematics 3": """
        return (
            x, [math.erf(f), math.erfc(f), math.gamma(f), math.lgamma(f), math.degrees(f), math.radians(n),
            math.fabs(-f), math.fmod(f, 2.0)]
        )""",
    "mathematics 4": """
        return (
            x, [math.copysign(f, -1.0), math.ldexp(f, 2), math.cosh(f), math.tanh(f), math.asinh(f),
            math.acosh(f), math.atanh(f / 4)]
        )""",
    "mathematics 5": """
        return (
            x, math.gcd(n * 4, 8), math.factorial(n), math.modf(f + 0.25), math.frexp(f), math.isnan(f),
            math.isinf(f), math.isfinite(f)
        )""",
    "minima": """
        return x, [min(n, m), max(n, m), min([n, m, 1]), max([n, m])], [min(f, n), max(f, 2.5)], max([1.0, f])""",
    "sums": "return x, sum([n, m, 2]), sum([f, 0.5]), all([n > 2, m > 2]), any([n > 3, m > 4])",
    "bases": "return x, hex(n * 9), oct(m * 4), bin(n), chr(n + 64), ord('A')",
    "ranges": "return x, [i for i in range(n)], [i for i in range(n, 0, -1)], [i for i in range(1, m)]",
    "lists written to": """
        l = [n, m]
        l.append(5)
        l.extend([f_int, 6])
        l.insert(1, 9)
        gone = l.pop()
        other = l.pop(0)
        l.remove(5)
        l.reverse()
        l[0] = 7
        l += [1, 2]
        del l[1]
        k = l.copy()
        k.clear()
        l.sort()
        down = sorted(l)
        l.sort(reverse=True)
        return x, l, k, gone, other, down, l.index(7), l.count(7), 7 in l, 8 in l, len(l)""",
    "lists read": """
        l = [n, m, 5, 6]
        return (
            x, l[1], l[-1], l[1:3], l[::2], l[-2:], l + [1], l * 2, list(l), [str(n)] + ['a'], 'a' in ['a'],
            f in [3.0]
        )""",
    "lists of tensors": """
        l = [x, x + 1]
        l.append(x * 2)
        l[0] = x - 1
        last = l.pop()
        l = l + [last, last]
        l.insert(0, x * 3)
        del l[1]
        l.reverse()
        return torch.stack(l[1:]), len(l), l[0], torch.cat(l[::2])""",
    "lists unpacked": """
        a, b, c = x.unbind(0)
        d, e = x.size()
        return a + b * c, d + e""",
    "dicts": """
        d = {'a': n, 'b': m}
        d['c'] = 5
        got = d.get('a')
        missing = d.get('z')
        default = d.get('z', 7)
        taken = d.pop('b')
        again = d.setdefault('e', 8)
        d.update({'f': 9})
        del d['c']
        return (
            x, d, got, missing, default, taken, again, 'a' in d, 'b' in d, len(d), list(d.keys()),
            list(d.values()), d.copy()
        )""",
    "dicts of tensors": """
        d: Dict[str, Tensor] = {}
        d['a'] = x
        d['b'] = x + 1
        for key, value in d.items():
            x = x * value
        e = dict(d)
        e.clear()
        return x, d['b'], len(e), d.pop('a')""",
    "dicts by number": """
        d = {1: x, 2: x + 1}
        g = {1.5: n}
        return d[n - 1], g[f / 2], 2 in d, dict([(1, n)])""",
    "strings": """
        s = 'Ab' + str(n)
        return (
            x, [s.upper(), s.lower(), s.swapcase(), s.capitalize(), s.title(), s.center(9, '*'), s.ljust(5,
            '.'), s.rjust(5), s.zfill(6)]
        )""",
    "strings asked": """
        s = 'Ab' + str(n)
        return (
            x, [s.isalnum(), s.isalpha(), s.isdigit(), s.isdecimal(), s.isnumeric(), s.islower(), s.isupper(),
            s.isspace(), s.istitle(), s.isidentifier(), s.isprintable()]
        )""",
    "strings searched": """
        s = 'abcabc' + str(n)
        return (
            x, [s.find('b'), s.find('b', 2), s.find('c', 0, 3), s.find('c', 0, -2), s.rfind('b'),
            s.count('b'), s.count('b', 2, -1), s.index('c'), s.rindex('c')]
        )""",
    "strings' ends": """
        s = 'abcabc' + str(n)
        return (
            x, [s.startswith('ab'), s.endswith('3'), s.startswith('ca', 2), s.endswith('bc', 0, -2),
            s.endswith('bc', 0, 6)]
        )""",
    "strings taken apart": """
        s = ' a, b,c ' + str(n)
        return (
            x, s.split(','), s.split(',', 1), s.rsplit(',', 1), s.strip(), s.lstrip(), s.rstrip('3'),
            s.partition(','), s.rpartition(','), 'a\\nb'.splitlines(), s.replace('b', 'z'), s.replace(',',
            ';', 1)
        )""",
    "strings made": """
        s = str(n)
        return (
            x, '{} and {}'.format(n, s), '%s of %d' % (s, m), ', '.join([s, 'q']), s[0], (s + 'xyz')[1:3],
            (s + 'xyz')[-1], len(s), list(s), f'{n}/{f}'
        )""",
    "types": """
        return (
            (x.to(torch.float64) if x.dtype == torch.float32 else x), x.dtype == y.dtype,
            x.dtype in [torch.float64, torch.int64], x.dtype != torch.half
        )""",
    "types merged": """
        kind = torch.float16
        if n > 2:
            kind = x.dtype
        kinds = [torch.float64, x.dtype]
        given: Optional[int] = None
        if n > 2:
            given = torch.float64
        return (
            torch.zeros([2], dtype=kind), torch.ones([2], dtype=kinds[0]), x.sum(dtype=given), n + 6, [6, 7]
        )""",
    "types carried": """
        kind = x.dtype
        for i in range(n):
            kind = torch.float64 if i == 1 else kind
        return x.to(kind), torch.empty([0], dtype=kind)""",
    "types as arguments": """
        return (
            torch.zeros_like(x, dtype=torch.promote_types(x.dtype, torch.float64)), x.to(y.dtype),
            torch.can_cast(torch.int, torch.float)
        )""",
    "result types": """
        return (
            x, torch.zeros([1], dtype=torch.result_type(x, y)), torch.zeros([1], dtype=torch.result_type(x,
            2.5))
        )""",
    "devices": """
        return (
            x.to(y.device), x.device.type, x.device == y.device, x.is_cuda, x.device == torch.device('cpu'),
            torch.zeros([1], device=torch.device('cpu'))
        )""",
    "layouts": """
        return (
            x, x.layout == torch.strided, x.is_sparse, x.is_quantized, x.is_mkldnn, torch.zeros([2],
            layout=x.layout)
        )""",
    "tensors asked": """
        return (
            x, x.dim(), x.numel(), x.size(), x.size(-1), x.stride(), x.stride(0), len(x),
            x.is_floating_point(), x.is_complex(), x.is_contiguous(), x.storage_offset(), x.element_size(),
            x.itemsize, x.nbytes, x.requires_grad, x.is_signed()
        )""",
    "memory formats": """
        z = x.reshape(1, 3, 2, 2).contiguous(memory_format=torch.channels_last)
        return z, z.is_contiguous(memory_format=torch.channels_last), z.is_contiguous()""",
    "tensors made": """
        return (
            torch.tensor([f, 1.0]) + torch.tensor(n), torch.tensor([[n, m]]), torch.as_tensor(f),
            torch.tensor([n], dtype=torch.float64), torch.tensor(n > 2), torch.tensor(f)
        )""",
    "tensors of numbers": """
        return (
            torch.zeros([n]) + n, x * f, x + True, torch.full([2], f), torch.arange(n), torch.arange(0, m, 2,
            dtype=torch.float)
        )""",
    "tensors to lists": """
        l: List[List[float]] = x.tolist()
        v: List[int] = torch.arange(3).tolist()
        return x, l, v""",
    "data": "return x.data + 1, x.detach(), abs(x - 3)",
    "optionals": """
        q: Optional[Tensor] = None
        if n > 2:
            q = x
        w = q
        if w is not None:
            x = w + 1
        assert q is not None
        return x, q is None, q is not None, q""",
    "tuples": """
        t = (x, n, 's')
        a, b, c = t
        u = t[1:]
        return t[0], b, u, (t, (a,)), t[2]""",
    "any": """
        z: Any = x
        r = 0
        if isinstance(z, Tensor):
            r = 1
        w: Any = n
        if isinstance(w, int):
            r += w
        return x, r, isinstance(w, str), isinstance(z, (int, float))""",
    "unions": """
        z: Union[int, str, Tensor] = n
        if m > 3:
            z = 'four'
        r = 0
        if isinstance(z, str):
            r = len(z)
        return x, r""",
    "loops": """
        while n < 6:
            x = x + n
            n += 1
        for i in range(2):
            if i == 1:
                break
            x = x * 2
        for t in [x, y]:
            x = x + t
        return x, n""",
    "branches": """
        if n > 3:
            r = x
        elif m > 3:
            r = x + 1
        else:
            raise RuntimeError('no')
        return r""",
    "early returns": """
        if n == 3:
            return x + 1
        x = x * 2
        return x""",
    "ternaries": "return (x if n > 3 else x + m), n if f > 2.5 else m, x[n - 1] if n < 4 else x[0]",
    "assertions": """
        assert n == 3, 'three: {}'.format(n)
        return x""",
    "said": """
        print('here', n)
        warnings.warn('careful')
        return x + 1""",
    "no gradients": """
        with torch.no_grad():
            z = x * 2
        return z + 1""",
    "autocast": """
        with torch.autocast('cpu', dtype=torch.bfloat16):
            z = torch.mm(x, x.t())
        return z""",
    "situation": "return x, torch.is_grad_enabled(), torch.jit.is_scripting(), torch.is_autocast_enabled()",
    "enumerations": """
        c = Colour.RED
        return x, c == Colour.BLUE, c != Colour.BLUE, c == self.colour, 1 if self.colour == Colour.RED else 2""",
    "complex numbers": """
        c = complex(n, f)
        return x, c + 1, c * c, abs(c), c == complex(3, 3)""",
    "shapes": """
        return (
            x.view(x.size(0), -1), x.reshape([m, n]), torch.broadcast_tensors(x, y)[0], x.expand(2, n, m),
            x.new_zeros(x.shape)
        )""",
    "slices": "return x[1:], x[:, ::2], x[..., -1], x[None], x[y > 0], x[torch.tensor([0, 2])], x[n - 1, m - 1]",
    "interpolation": """
        return (
            torch.nn.functional.interpolate(x.reshape(1, 1, n, m), scale_factor=2.0, mode='bilinear',
            align_corners=False)
        )""",
    "attention": """
        return (
            torch.nn.functional.scaled_dot_product_attention(x[None], x[None], x[None]),
            torch.nn.functional.softmax(x, -1, dtype=torch.float64)
        )""",
    "views of another dtype": """
        z = torch.ops.prims.view_of_dtype(x, torch.int32)
        return z, z.add_(1)""",
    "constants": """
        return (
            x + self.weight, self.scale, self.names, self.table['k'], self.pair[1], float('inf'),
            -float('inf'), 'q"\\'\\\\'
        )""",
}  # fmt: skip
# Only Dynamo, or Python, can do these: numbers from data, loops, switches.
NO_STRAIGHT_LINE = {
    "read from tensors", "tensors to lists", "ranges", "dicts of tensors", "types carried", "loops", "no gradients",
    "autocast", "slices", "data", "interpolation",
}  # fmt: skip


class Colour(Enum):
    RED = 1
    BLUE = 2


MODULE = """
import math
import torch
import warnings
from typing import Any, Dict, List, Optional, Tuple, Union
from torch import Tensor
from {module} import Colour


class M(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(4))
        self.scale, self.names, self.table, self.pair = 1.5, ["a", "b"], {{"k": 3}}, (1, "two")
        self.colour = Colour.RED

    def forward(self, x: Tensor, y: Tensor):
        n = x.size(0)
        m = x.size(1)
        f = float(n)
        f_int = int(f)
        {body}
"""


def setUpModule():
    global FOLDER
    scratch = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(scratch.cleanup)
    FOLDER = scratch.name


def script_of(name):
    """TorchScript compiles from a file alone."""
    path = Path(FOLDER) / f"snippet_{list(SNIPPETS).index(name)}.py"
    path.write_text(MODULE.format(body=SNIPPETS[name].strip(), module=__name__))
    space = {"__name__": path.stem}
    exec(compile(path.read_text(), str(path), "exec"), space)
    return torch.jit.freeze(torch.jit.script(space["M"]().eval()), optimize_numerics=False)


def arguments():
    return torch.arange(12.0).reshape(3, 4) / 4, torch.ones(3, 4)


def as_it_is(module, _inputs):
    return module.forward


class Translation(unittest.TestCase):
    def same(self, given, wanted, where):
        self.assertEqual(isinstance(given, Tensor), isinstance(wanted, Tensor), where)
        if isinstance(wanted, Tensor):
            self.assertEqual((given.dtype, given.stride()), (wanted.dtype, wanted.stride()), where)
            torch.testing.assert_close(given, wanted, equal_nan=True)
        elif isinstance(wanted, (list, tuple)):
            self.assertEqual((type(given), len(given)), (type(wanted), len(wanted)), where)
            for index, (one, other) in enumerate(zip(given, wanted)):
                self.same(one, other, f"{where}[{index}]")
        elif isinstance(wanted, dict):
            self.assertEqual(list(given), list(wanted), where)
            for key in wanted:
                self.same(given[key], wanted[key], f"{where}[{key!r}]")
        elif isinstance(wanted, float):
            self.assertIsInstance(given, float, where)
            self.assertTrue(given == wanted or math.isclose(given, wanted, rel_tol=1e-14), (where, given, wanted))
        else:
            self.assertEqual((type(given), given), (type(wanted), wanted), where)

    def test_as_python(self):
        for name in SNIPPETS:
            with self.subTest(name):
                script = script_of(name)
                self.same(make_module(script)[0](*arguments()), script(*arguments()), name)

    def test_as_a_graph(self):
        for name in SNIPPETS:
            with self.subTest(name):
                script = script_of(name)
                through = FxCompiled(script, make_module(script)[0], fx_graph.build, as_it_is)
                try:
                    given = through(*arguments())
                except Uncovered as reason:
                    self.assertIn(name, NO_STRAIGHT_LINE, str(reason))
                    continue
                self.assertNotIn(name, NO_STRAIGHT_LINE)
                self.same(given, script(*arguments()), name)

    def test_through_dynamo(self):
        for name in ("lists of tensors", "dicts of tensors", "types merged", "strings made", "said", "no gradients",
                     "loops", "any"):  # fmt: skip
            with self.subTest(name):
                script = script_of(name)
                compiled = torch.compile(make_module(script)[0], backend="eager")
                self.same(compiled(*arguments()), script(*arguments()), name)


class Numbers(unittest.TestCase):
    def test_constants_read_back_as_they_are(self):
        parts = (0.0, -0.0, 1.0, -2.5, math.inf, -math.inf, math.nan)
        for value in (*parts, *(complex(real, imaginary) for real in parts for imaginary in parts)):
            with self.subTest(value):
                self.assertEqual(repr(eval(literal(value, None))), repr(value))


class Packed(torch.nn.Module):
    def __init__(self, packed):
        super().__init__()
        self.packed_1 = packed

    def forward(self, x: Tensor):
        return torch.ops.quantized.linear_dynamic(x, self.packed_1, True)


class Objects(unittest.TestCase):
    """Packed parameters of quantised operators have no literal: they are attributes of the module."""

    def quantised(self):
        torch.manual_seed(0)
        module = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU()).eval()
        return torch.jit.script(torch.ao.quantization.quantize_dynamic(module, {torch.nn.Linear}, dtype=torch.qint8))

    def test_among_the_constants(self):
        script = torch.jit.freeze(self.quantised())
        given = make_module(script)[0](arguments()[0])
        self.assertTrue(torch.equal(given, script(arguments()[0])))

    def test_as_attributes(self):
        weight = torch.quantize_per_tensor(torch.ones(3, 4), 0.1, 0, torch.qint8)
        script = torch.jit.script(Packed(torch.ops.quantized.linear_prepack(weight, torch.ones(3))))
        module = make_module(script)[0]
        self.assertTrue(torch.equal(module(arguments()[0]), script(arguments()[0])))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    unittest.main(warnings="ignore")
