"""names_in_python.py SOURCE_FOLDER FOLDER: does repro.py hold for the names of FOLDER/reduced.pt's arguments and
attributes? Compiled, and run once."""

import sys

import torch

sys.path.insert(0, sys.argv[1])
import emit  # noqa: E402

FACTS = {"kind": "accuracy", "grad": False, "device": "cpu", "differs": {}}

if __name__ == "__main__":
    script = torch.jit.load(sys.argv[2] + "/reduced.pt")
    values = torch.load(sys.argv[2] + "/inputs.pt", weights_only=True)
    names = [argument.name for argument in script.forward.schema.arguments][1:]
    inputs = [[name, "input", "", value] for name, value in zip(names, values)]
    inputs += [[name, "parameter", "", value.detach()] for name, value in script.named_parameters()]
    inputs += [[name, "buffer", "", value] for name, value in script.named_buffers()]
    parts = emit.Repro(script, inputs, FACTS).parts()
    made = [f"{name} = {tensor}" for name, tensor in parts["inputs"]]
    called = f"found = {parts['callable']}({', '.join(name for name, _ in parts['inputs'])})"
    space: dict = {"__name__": "repro"}
    exec(compile("\n".join([*parts["imports"], parts["definition"], *made, called]), "repro.py", "exec"), space)
    expected, found = script(*values), space["found"]
    assert torch.equal(expected, found), (expected, found)
    print(len(inputs), "names")
