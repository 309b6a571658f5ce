"""The program of repro.py for a runtime that is given what torch.export makes: a module, typed as a person types it."""

import dataclasses

import emit_fx
import fx_groups
from emit import Repro


class InModule:
    """The function of an emit_fx.FxRepro as the method of a module."""

    callable = Repro.callable

    @staticmethod
    def read(attribute):
        return f"self.{attribute}"

    def lines(self):
        method = dataclasses.replace(self.typed, arguments=["self", *self.typed.arguments])
        return [f"    {line}" if line else "" for line in method.function("forward")]

    def parts(self):
        return {**super().parts(), "callable": self.callable + self.moved(), "is_module": True}

    def definition(self):
        outside = [*([fx_groups.LINE] if self.has_group else []), *self.typed.classes]
        return [*outside, *([""] * 2 if outside else []), *Repro.definition(self)]


class CallsInModule(InModule, emit_fx.FxRepro):
    pass


class ScriptInModule(InModule, emit_fx.TypedRepro):
    pass


def programs(script, inputs, facts):
    """The ways to write a program, the plainest first."""
    return emit_fx.programs(script, inputs, facts, (CallsInModule, ScriptInModule))
