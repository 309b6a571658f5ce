"""Names for the values of a program in torch.fx, as a person would choose them."""

import builtins
import keyword
import re
from collections.abc import Iterable

# Dynamo says where it found a value: these words lead there, and name nothing.
PATHS = {"self", "fn", "mod", "modules", "parameters", "buffers", "args", "kwargs", "closure", "cell", "contents",
         "globals", "stack0", "stack", "inputs", "argument"}  # fmt: skip
LONGEST = 20
LETTERS = "x y z w v u t s r q p".split()
SIZES = "n m k j i".split()
MODULES = {"torch", "F", "nn", "np", "math", "operator", "self"}
SHADOWED = {"input", "id", "iter", "filter", "hash"}  # builtins that nothing written here calls
FORBIDDEN = MODULES | set(keyword.kwlist) | set(keyword.softkwlist) | set(dir(builtins)) - SHADOWED

# The result of a function whose own name is no noun, or is a builtin.
NOUNS = {
    "add": "total", "iadd": "total", "sub": "difference", "isub": "difference", "rsub": "difference",
    "mul": "product", "imul": "product", "matmul": "product", "mm": "product", "bmm": "product", "div": "quotient",
    "truediv": "quotient", "itruediv": "quotient", "floordiv": "quotient", "mod": "remainder", "pow": "power",
    "neg": "negated", "abs": "magnitude", "sum": "total", "max": "largest", "amax": "largest", "min": "smallest",
    "amin": "smallest", "round": "rounded", "getitem": "part", "select": "part", "slice": "part", "chunk": "chunks",
    "gt": "mask", "ge": "mask", "lt": "mask", "le": "mask", "eq": "mask", "ne": "mask", "and_": "mask",
    "or_": "mask", "invert": "mask", "bitwise_not": "mask", "bool": "mask", "all": "all_true", "any": "any_true",
    "to": "converted", "type": "converted", "float": "single", "double": "double", "int": "integers",
    "long": "integers", "clone": "copy", "detach": "detached", "pad": "padded", "interpolate": "resized",
    "cat": "joined", "concat": "joined", "stack": "stacked", "split": "parts", "unbind": "parts", "where": "chosen",
    "flip": "flipped", "roll": "rolled", "sort": "ordered", "argsort": "order", "t": "transposed",
    "transpose": "transposed", "permute": "permuted", "expand": "expanded", "reshape": "reshaped",
    "flatten": "flattened", "squeeze": "squeezed", "unsqueeze": "unsqueezed", "normalize": "normalized",
    "conv1d": "conv", "conv2d": "conv", "conv3d": "conv", "linear": "linear",
    "scaled_dot_product_attention": "attention", "numel": "count",
    "size": "size", "item": "number", "cumsum": "sums", "clamp": "clamped", "contiguous": "dense",
    "masked_fill": "filled", "mt": "transposed", "h": "transposed", "mh": "transposed", "half": "half",
    "topk": "largest", "pool": "pooled", "upsample": "resized", "convolution": "conv", "to_copy": "converted",
    "index_select": "picked", "gather": "gathered", "tag_activation_checkpoint": "checkpointed",
    "autograd_function_apply": "applied", "map_impl": "mapped", "vmapped": "mapped", "while_loop": "carried",
    "differentiated": "gradients", "pulled": "gradients", "pushed": "moved", "BlockMask": "block_mask",
    "flex_attention": "attention",
}  # fmt: skip


def is_name(text: object) -> bool:
    """True for what can stand as a name in Python source. Names from a model are hostile: ASCII alone, no keyword."""
    return isinstance(text, str) and text.isascii() and text.isidentifier() and not keyword.iskeyword(text)


def unique(wanted: str, taken: set[str]) -> str:
    """`wanted` or, where that is taken or forbidden, the same with a number; it is taken from then on."""
    wanted = wanted if is_name(wanted) and not wanted.startswith("__") else "value"
    numbered = (f"{wanted}_{number}" for number in range(2, len(taken) + len(FORBIDDEN) + 3))
    name = next(name for name in (wanted, *numbered) if name not in taken and name not in FORBIDDEN)
    taken.add(name)
    return name


def words_of(name: str) -> list[str]:
    """The parts of a name from Dynamo that say something: those of L_self_modules_blocks_modules_0_parameters_weight_
    are blocks, 0, weight."""
    plain = re.sub(r"[^0-9A-Za-z_]", "_", name)
    if match := re.fullmatch(r"[lLgG]_+(.*?)_*", plain):
        plain = match[1]
    if match := re.fullmatch(r"[pbc]_(\d*)_?([A-Za-z].*)", plain):  # of torch.export: parameters, buffers, constants
        return [match[1], match[2]] if match[1] else [match[2]]
    path, held, own = plain.rpartition("_parameters_")
    if not held:
        path, held, own = plain.rpartition("_buffers_")
    words = [word for word in path.split("_") if word] if held else [word for word in plain.split("_") if word]
    if held or words and words[0] in PATHS:  # else it is a name that a person gave, and whole
        words = [word for word in words if word not in PATHS] + ([own] if held else [])
        return words if any(not word.isdigit() for word in words) else []
    return ["_".join(words)] if words else []


def argument_names(names: Iterable[str]) -> list[str]:
    """A name for each of a program's arguments, in order, all different: that which the user gave, the shortest end of
    the path that tells it from the others, or a letter where there is neither."""
    names = list(names)
    without = re.compile(r"s\d+|(arg|argument|primals|tangents)_?\d*(_1)?|get(attr|item)(_\d+)*")
    paths = [[] if without.fullmatch(name) else words_of(name) for name in names]
    taken: set[str] = set()
    chosen: dict[int, str] = {}
    for at, words in enumerate(paths):
        if words:
            ends = (words[start:] for start in range(len(words) - 1, 0, -1) if not words[start].isdigit())
            others = [path for place, path in enumerate(paths) if place != at]
            fitting = (end for end in ends if all(other[-len(end) :] != end for other in others))
            chosen[at] = unique(path_of(next(fitting, words)), taken)
    for at, name in enumerate(names):
        if at not in chosen:
            letters = SIZES if re.fullmatch(r"s\d+", name) else LETTERS
            free = (letter for letter in letters if letter not in taken)
            chosen[at] = unique(next(free, letters[0]), taken)
    return [chosen[at] for at in range(len(names))]


def path_of(words: list[str]) -> str:
    """Words as one name, which does not begin with a digit."""
    if words[0][0].isdigit() and len(words) > 1:
        words = [*words[1:], words[0]]
    return "_".join(words)


def name_for_result(target: str) -> str:
    """A name for what a function or method of this name gives, without a number."""
    plain = re.sub(r"^_+(foreach_)?|^wrapped_|^new_|_like$|_+$", "", target) if target not in NOUNS else target
    if plain not in NOUNS:
        plain = next((noun for noun in ("norm", "pool", "upsample", "dropout") if noun in plain), plain)
    name = NOUNS.get(plain, plain)
    while len(name) > LONGEST and "_" in name:
        name = name.rpartition("_")[0]
    return name if is_name(name) and name not in FORBIDDEN else "value"
