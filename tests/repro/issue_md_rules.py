"""issue_md_rules.py ISSUE.MD: would it survive triage? The rules are PyTorch's; exits with 1 and says what is broken.

Nothing is run: that repro.py fails as reported is what verification has seen.
"""

import ast
import re
import sys
from pathlib import Path

MOST_TITLE, MOST_BODY = 256, 65536
ALLOWED = {"torch", "math", "sys", "os", "typing", "operator"}
UNSAFE = {"open", "eval", "exec", "compile", "__import__", "torch.load", "torch.jit.load", "os.system"}
PATH_OF_A_MACHINE = re.compile(r"(?<![\w.])/(root|home|tmp|work|Users)/\S*")


def dotted(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def broken_in_code(code: str) -> list[str]:
    try:
        tree = ast.parse(code)
    except SyntaxError as error:
        return [f"the block is no Python: {error}"]
    nodes = list(ast.walk(tree))
    roots = {alias.name.split(".")[0] for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    roots |= {(node.module or "").split(".")[0] for node in nodes if isinstance(node, ast.ImportFrom)}
    calls = {dotted(node.func) for node in nodes if isinstance(node, ast.Call)}
    problems = [f"imports {name}" for name in sorted(roots - ALLOWED)]
    return problems + [f"calls {name}" for name in sorted(calls & UNSAFE)]


def broken_rules(text: str) -> list[str]:
    title, _, body = text.partition("\n")
    problems = [] if 0 < len(title) <= MOST_TITLE else ["the title is empty or too long"]
    if len(body) > MOST_BODY:
        problems.append("the body is too long")
    for section in ("Describe the bug", "Error logs", "Versions"):
        if not re.search(rf"^#+ .*{section}", body, re.M):
            problems.append(f"there is no section {section}")
    blocks = re.findall(r"^```python\n(.*?)^```$", body, re.M | re.S)
    if len(blocks) > 1 or (not blocks and "There is no Python for it" not in body):
        problems.append(f"{len(blocks)} blocks of Python")
    if re.search(r"[\w/.-]+\.(pt2?|pth|ptl|pkl|zip|onnx|bin|safetensors)\b", body.partition("### Versions")[0]):
        problems.append("it needs a file")
    if PATH_OF_A_MACHINE.search(body.partition("### Versions")[0]):
        problems.append("it names a path of a machine")
    if body.count("```") % 2:
        problems.append("a fence is not closed")
    if not re.search(r"`(module|oncall): ", body):
        problems.append("no label is proposed")
    return problems + [problem for block in blocks for problem in broken_in_code(block)]


if __name__ == "__main__":
    found = broken_rules(Path(sys.argv[1]).read_text(encoding="utf-8"))
    print("\n".join(found) or "all rules hold")
    sys.exit(1 if found else 0)
