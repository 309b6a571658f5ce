"""names_in_python.py SOURCE_FOLDER FOLDER: does repro.py hold for the names of FOLDER/reduced.pt's arguments and
attributes? Compiled, and run once."""

import ast
import sys

import torch

sys.path.insert(0, sys.argv[1])
import emit  # noqa: E402

FACTS = {"headline": "Wrong", "found": "0", "minimised": "minimised", "kind": "accuracy", "where": "output",
         "perturb": None,
         "differs": {"form": "close", "rtol": 1e-3, "atol": 1e-3, "limit": 0.0, "equal_nan": True, "as_it_is": False,
                     "relative_to_expected": True, "floating_only": False, "why": "", "strides": False},
         "calls": 1, "seed": 0, "threads": 1, "grad": False, "autocast": False,
         "autocast_dtype": "bfloat16", "device": "cpu", "deterministic": "off",
         "marker": "REPRODUCED accuracy 0"}  # fmt: skip

if __name__ == "__main__":
    script = torch.jit.load(sys.argv[2] + "/reduced.pt")
    values = torch.load(sys.argv[2] + "/inputs.pt", weights_only=True)
    names = [argument.name for argument in script.forward.schema.arguments][1:]
    inputs = [[name, "input", "", value] for name, value in zip(names, values)]
    inputs += [[name, "parameter", "", value.detach()] for name, value in script.named_parameters()]
    inputs += [[name, "buffer", "", value] for name, value in script.named_buffers()]
    text = emit.Repro(script, inputs, FACTS).text()
    ast.parse(text)
    space: dict = {"__name__": "repro"}
    exec(compile(text, "repro.py", "exec"), space)
    expected, found = script(*values), space["Repro"]().eval()(*space["make_inputs"]())
    assert torch.equal(expected, found), (expected, found)
    print(len(inputs), "names")
