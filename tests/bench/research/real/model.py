"""The classes from which every family of models is made."""

from dataclasses import dataclass

import torch


@dataclass
class Model:
    module: torch.nn.Module
    inputs: tuple
    how: str = "trace"  # or "script"

    def script(self):
        """Returns the module, scripted or traced, as torch.jit.save takes it."""
        self.module.eval()
        with torch.no_grad():
            if self.how == "script":
                return torch.jit.script(self.module)
            return torch.jit.trace(self.module, self.inputs, check_trace=False, strict=False)


class First(torch.nn.Module):
    """The first part of what a module returns, however it wraps that."""

    def __init__(self, module, **options):
        super().__init__()
        self.module = module
        self.options = options

    def forward(self, *inputs):
        result = self.module(*inputs, **self.options)
        return next(iter(result.values())) if isinstance(result, dict) else result[0]
