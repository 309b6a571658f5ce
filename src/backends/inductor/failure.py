"""Reads what exceptions and compilers say: which failure it was, in words."""

import re

OF_OPENVINO = re.compile(r" (at|from) \S+:\d+:$")  # "Check 'false' failed at src/report.cpp:151:"
OF_ONNX_RUNTIME = re.compile(r"^\[ONNXRuntimeError\] : \d+ : \w+ : (This is an invalid model\. )?")


def first_sentence(error):
    """What a person needs of it: the innermost exception, without stacks and without what differs from run to run."""
    seen = set()
    while id(error) not in seen:
        seen.add(id(error))
        if type(error).__name__ == "CppCompileError":
            break  # it has the compiler's words; its cause only has the command
        inner = getattr(error, "inner_exception", None) or error.__cause__
        if not isinstance(inner, BaseException):
            break
        error = inner
    text = str(error)
    name = type(error).__name__
    if name == "CppCompileError":
        for line in text.splitlines():
            if ": error: " in line or ": fatal error: " in line:
                return "C++ compile error: " + line.split("error: ", 1)[1].strip()
    if found := re.search(r"with fake tensors: .* got (\w+)\((['\"])(.+)\2\)$", text, re.MULTILINE):  # by Dynamo
        name, text = found[1], found[3].replace("\\n", "\n")
    first = reason([line.strip() for line in text.splitlines() if line.strip()] or [""])
    return first if name == "RuntimeError" and first else f"{name}: {first}" if first else name


def reason(lines):
    """The line that says what is wrong. OpenVINO first names places in its source, and may end with a list of
    operators, of which one is enough; ONNX Runtime begins with a code."""
    if not OF_OPENVINO.search(lines[0]):
        return OF_ONNX_RUNTIME.sub("", lines[0])
    said = [line for line in lines if not line.endswith(":")] or lines
    listed = [line[3:].split(", ")[0] for line in said if line.startswith("-- ")]
    return (listed or said)[0].split(" name: ")[0]


def missing_header(output):
    """The header of the system that the compiler did not find: Python.h. Those of PyTorch lie in folders, and are its
    own to find. Empty where there is none."""
    found = re.search(r"fatal error: '?([\w.+-]+)'?(: No such file or directory| file not found)", output)
    return found.group(1) if found else ""


def has_compilers_verdict(output):
    """True if the compiler found a fault in the source, at a line of it, or in itself."""
    if missing_header(output):
        return False
    if "No space left on device" in output or "Killed signal" in output:
        return False
    return re.search(r":\d+: (fatal )?error: |undefined reference|internal compiler error", output) is not None
