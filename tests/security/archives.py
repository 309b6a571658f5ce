"""Archives as strangers may make them: valid ones, changed where their structure is."""

import random
import struct
import zipfile
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Archive:
    """The records of a zip archive, in order, and what is done to its bytes in the end."""

    records: list[tuple[str, bytes]]
    damage: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, path: Path) -> "Archive":
        with zipfile.ZipFile(path) as archive:
            return cls([(info.filename, archive.read(info)) for info in archive.infolist()])

    def write(self, path: Path, rng: random.Random) -> None:
        compression = zipfile.ZIP_DEFLATED if "deflated" in self.damage else zipfile.ZIP_STORED
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in self.records:  # of no particular time: the same bytes whenever it is written
                archive.writestr(zipfile.ZipInfo(name), data, compression)
        if "bytes" in self.damage:
            path.write_bytes(damaged_bytes(path.read_bytes(), rng))

    def positions(self, *endings: str) -> list[int]:
        return [at for at, (name, _) in enumerate(self.records) if name.endswith(endings)]

    def change(self, at: int, data: bytes) -> None:
        self.records[at] = (self.records[at][0], data)


INTERESTING = [0, 1, 2, 3, 255, 256, 65535, 1 << 20, (1 << 31) - 1, 1 << 31, (1 << 32) - 1]


def damaged_bytes(data: bytes, rng: random.Random) -> bytes:
    """Sizes and offsets of the zip format, single bytes, and the end cut off."""
    changed = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        way = rng.randrange(3)
        if way == 0:
            signature = rng.choice([b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06", b"PK\x06\x06"])
            places = [at for at in range(len(changed) - 50) if changed[at : at + 4] == signature][:200]
            if places:
                at = rng.choice(places) + rng.choice([8, 14, 18, 20, 22, 24, 42])
                struct.pack_into("<I", changed, at, rng.choice(INTERESTING))
        elif way == 1 and changed:
            changed[rng.randrange(len(changed))] = rng.randrange(256)
        elif len(changed) > 40:
            del changed[rng.randrange(20, len(changed)) :]
    return bytes(changed)


# Pickles


def split_pickle(data: bytes) -> list[bytes]:
    """The opcodes with their arguments, as far as they are those that LibTorch writes."""
    fixed = {b"J": 4, b"K": 1, b"M": 2, b"G": 8, b"q": 1, b"r": 4, b"h": 1, b"j": 4, b"\x80": 1, b"\x95": 8}
    counted = {b"X": "<I", b"\x8c": "<B", b"T": "<I", b"U": "<B", b"\x8a": "<B", b"\x8b": "<I", b"B": "<I", b"C": "<B"}
    parts, at = [], 0
    while at < len(data):
        opcode, end = data[at : at + 1], at + 1
        if opcode in fixed:
            end += fixed[opcode]
        elif opcode in counted:
            width = struct.calcsize(counted[opcode])
            if end + width <= len(data):
                end += width + struct.unpack_from(counted[opcode], data, end)[0]
        elif opcode == b"c":
            for _ in range(2):
                end = data.find(b"\n", end) + 1 or len(data)
        parts.append(data[at:end])
        at = end
    return parts


def other_number(part: bytes, rng: random.Random) -> bytes:
    if part[:1] == b"K":
        return b"K" + bytes([rng.randrange(256)])
    if part[:1] == b"M":
        return b"M" + struct.pack("<H", rng.choice([0, 1, 64, 65535]))
    if part[:1] == b"J":
        return b"J" + struct.pack("<I", rng.choice(INTERESTING) & 0xFFFFFFFF)
    if part[:1] == b"\x8a":
        return b"\x8a\x08" + struct.pack("<q", rng.choice([-1, 1 << 40, -(1 << 63), (1 << 63) - 1]))
    return part


def nested(rng: random.Random) -> bytes:
    depth = rng.choice([100, 1000, 16000, 100000])
    return rng.choice([b"(" * depth + b"t" * depth, b")" + b"\x85" * depth, b"]" * depth + b"a" * (depth - 1)])


def mutated_pickle(data: bytes, rng: random.Random) -> bytes:
    parts = split_pickle(data)
    for _ in range(rng.randint(1, 5)):
        at = rng.randrange(len(parts))
        way = rng.randrange(7)
        numbers = [i for i, part in enumerate(parts) if part[:1] in (b"K", b"M", b"J", b"\x8a")]
        if way <= 2 and numbers:
            at = rng.choice(numbers)
            parts[at] = other_number(parts[at], rng)
        elif way == 3:
            del parts[at]
        elif way == 4:
            parts.insert(at, parts[rng.randrange(len(parts))])
        elif way == 5:
            parts.insert(at, nested(rng) + rng.choice([b"0", b""]))
        else:
            parts[at] = bytes([rng.randrange(256)]) + parts[at][1:]
        if not parts:
            return b"."
    return b"".join(parts)


# Code

CALLS = [
    "torch.save({x}, \"{file}\")",
    "torch.from_file(\"{file}\", True, 4)",
    "torch.from_file(\"{file}\", False, 4, dtype=0).fill_(1)",
    "torch.warn(\"\\033]0;title\\007\")",
    "print(\"\\033[2J{{\")",
    "torch.zeros([1000000000, 1000])",
    "torch.as_strided({x}, [100000], [1], 100000)",
    "torch._test_ambiguous_defaults({x})",
    "ops.c10d.barrier({x})",
]


def deep_expression(rng: random.Random) -> str:
    depth = rng.choice([300, 2700, 4200, 10000, 50000])
    return rng.choice(
        [
            "+".join(["1"] * depth),
            "[" * depth + "1" + "]" * depth,
            "int(" * depth + "1" + ")" * depth,
            "(" * depth + "1" + ")" * depth,
            "-" * depth + "1",
            "not " * depth + "True",
        ]
    )


def nested_blocks(rng: random.Random, indent: str) -> str:
    depth = rng.choice([50, 500, 3000])
    return "".join(f"{indent}{'  ' * i}if True:\n" for i in range(depth)) + f"{indent}{'  ' * depth}pass\n"


def mutated_code(data: bytes, rng: random.Random, file: str) -> bytes:
    lines = data.decode("utf-8", "replace").splitlines(keepends=True)
    bodies = [at for at, line in enumerate(lines) if line.startswith("    ") and line.strip()]
    if not bodies:
        return data
    at = rng.choice(bodies)
    indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
    way = rng.randrange(7)
    if way == 0:
        lines.insert(at, f"{indent}_fuzz = {rng.choice(CALLS).format(x='torch.ones([2])', file=file)}\n")
    elif way == 1:
        lines.insert(at, f"{indent}_fuzz = {deep_expression(rng)}\n")
    elif way == 2:
        lines.insert(at, nested_blocks(rng, indent))
    elif way == 3:
        lines.insert(at, f"{indent}while True:\n{indent}  pass\n")
    elif way == 4:
        del lines[at]
    elif way == 5:
        position = rng.randrange(max(1, len(lines[at])))
        lines[at] = lines[at][:position] + rng.choice("()[]{}:,.\"'\\\n=\x00\u202e9") + lines[at][position:]
    else:
        lines.insert(at, lines[rng.choice(bodies)])
    return "".join(lines).encode()


def with_state_function(archive: Archive, rng: random.Random, file: str) -> None:
    """Code that runs while the model is loaded."""
    places = archive.positions(".py")
    pickles = archive.positions("data.pkl")
    if not places or not pickles:
        return
    call = rng.choice(CALLS + ["torch.add(torch.ones([2]), 1)"]).format(x="torch.ones([2])", file=file)
    endless = "    while True:\n      pass\n"
    body = rng.choice([f"    _0 = {call}\n", endless, f"    print(\"hello\")\n    _0 = {call}\n"])
    text = archive.records[places[0]][1].decode("utf-8", "replace")
    head, separator, rest = text.partition("  def ")
    name = text.partition("class ")[2].partition("(")[0] or "M"
    own = f"  def __getstate__(self: __torch__.{name}) -> int:\n    return 1\n"
    own += f"  def __setstate__(self: __torch__.{name},\n    state: int) -> NoneType:\n{body}    return None\n"
    archive.change(places[0], (head + own + separator + rest).encode())


def mutated_storage(data: bytes, rng: random.Random) -> bytes:
    way = rng.randrange(4)
    if way == 0:
        return data[: rng.randrange(len(data) + 1)]
    if way == 1:
        return b""
    if way == 2:
        return data + bytes(rng.randrange(1, 100))
    return bytes(rng.randrange(256) for _ in range(min(len(data), 4096)))


KINDS = ["pickle"] * 3 + ["code"] * 3 + ["storage", "records", "bytes", "deflated", "state"]


def mutate(archive: Archive, rng: random.Random, file: str) -> str:
    """Changes it in one to three ways, and says which."""
    names = []
    for _ in range(rng.randint(1, 3)):
        kind = rng.choice(KINDS)
        places = {"pickle": archive.positions(".pkl"), "code": archive.positions(".py")}.get(
            kind, [at for at, (name, _) in enumerate(archive.records) if "/data/" in name or "/constants/" in name]
        )
        names.append(kind)
        if kind == "pickle" and places:
            at = rng.choice(places)
            archive.change(at, mutated_pickle(archive.records[at][1], rng))
        elif kind == "code" and places:
            at = rng.choice(places)
            archive.change(at, mutated_code(archive.records[at][1], rng, file))
        elif kind == "storage" and places:
            at = rng.choice(places)
            archive.change(at, mutated_storage(archive.records[at][1], rng))
        elif kind == "records":
            at = rng.randrange(len(archive.records))
            if rng.random() < 0.5 and len(archive.records) > 1:
                del archive.records[at]
            else:
                other = rng.randrange(len(archive.records))
                archive.records[at] = (archive.records[at][0], archive.records[other][1])
        elif kind in ("bytes", "deflated"):
            archive.damage.append(kind)
        elif kind == "state":
            with_state_function(archive, rng, file)
    return "+".join(names)
