"""Which part of torch.compile is guilty: PyTorch's own compiler bisector says what to leave out next, and is told what
came of it."""

import contextlib
import io
import os
import tempfile

import torch._functorch.config as functorch_config
import torch._inductor.config as inductor_config
from torch._inductor.compiler_bisector import BACKENDS, CompilerBisector, ConfigChange
from torch._inductor.virtualized import V

import wire


def serve(connection):
    """The conversation, in a child of its own: what to try goes out, whether that was right comes back, until it is
    found.

    The bisector keeps its state in files of a private folder; the children that are told to try something read and
    write them there (`take_part`).
    """
    folder = os.path.join(tempfile.mkdtemp(), "state")

    def is_right():
        backend, subsystem = CompilerBisector.get_backend(), CompilerBisector.get_subsystem()
        state = CompilerBisector.get_run_state(backend, subsystem) if subsystem else None
        applied = sum(CompilerBisector.get_bisect_range(backend, subsystem)) // 2 + 1 if state == "bisect" else None
        wire.send(connection, {"try": {"folder": folder, "backend": backend, "subsystem": subsystem, "state": state,
                                       "applied": applied, "switch": switch(backend, subsystem)}})  # fmt: skip
        header, _ = wire.receive(connection)
        return header["right"]

    CompilerBisector.in_process_cache = folder
    with contextlib.redirect_stdout(io.StringIO()):
        result = CompilerBisector.do_bisect(is_right)
    found = {**vars(result), "switch": switch(result.backend, result.subsystem)} if result else None
    wire.send(connection, {"found": found})


def switch(backend, subsystem):
    """Returns "emulate_precision_casts=True" for a subsystem that sets an entry of a configuration, else None."""
    change = CompilerBisector.get_subsystem_object(backend, subsystem) if subsystem else None
    return f"{change.config_field}={change.config_value}" if isinstance(change, ConfigChange) else None


def parts():
    """Everything that it can leave out, in order: "aot_eager", "inductor/lowerings"."""
    return [
        name
        for backend, subsystems in BACKENDS.items()
        for name in [backend, *(f"{backend}/{subsystem.name}" for subsystem in subsystems)]
    ]


def take_part(folder):
    """From here on this process compiles what the bisector's state in the folder says."""
    CompilerBisector.in_process_cache = folder
    CompilerBisector.bisection_enabled = True
    CompilerBisector.disable_subsystem = naming_overloads(CompilerBisector.disable_subsystem)
    inductor_config.fx_graph_cache = False  # knows nothing of what is left out
    functorch_config.enable_autograd_cache = False


def naming_overloads(is_disabled):
    """The bisector's question whether a part is left out, with a lowering named after its overload.

    PyTorch names it after the node: `sum_1`, which no operator is called, and `div` for each overload of it.
    """

    def question(backend, subsystem, debug_info=None):
        if subsystem == "lowerings":
            return is_disabled(backend, subsystem, lambda: overload_name(V.graph.current_node.target))
        return is_disabled(backend, subsystem, debug_info)

    return question


def overload_name(overload):
    """Returns "sinh" for aten.sinh.default, and "aten.div.Tensor_mode" for another overload, or of another library."""
    name = str(overload)
    plain = name.removeprefix("aten.").removesuffix(".default")
    return plain if name == f"aten.{plain}.default" else name
