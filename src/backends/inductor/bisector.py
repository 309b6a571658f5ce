"""Which part of torch.compile is guilty: PyTorch's own compiler bisector says what to leave out next, and is told what
came of it."""

import contextlib
import io
import os
import re
import tempfile

import torch._functorch.config as functorch_config
import torch._inductor.config as inductor_config
from torch._inductor.compiler_bisector import BACKENDS, CompilerBisector, ConfigChange
from torch._inductor.pattern_matcher import PatternMatcherPass, is_match
from torch._inductor.virtualized import V
from torch.fx.passes.graph_transform_observer import GraphTransformObserver

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
        # Applications up to the middle of those in doubt run, the rest is left out; people count from 1.
        applied = sum(CompilerBisector.get_bisect_range(backend, subsystem)) // 2 + 1 if state == "bisect" else None
        wire.send(connection, {"try": {"folder": folder, "backend": backend, "subsystem": subsystem, "state": state,
                                       "applied": applied, **switch(backend, subsystem)}})  # fmt: skip
        header, _ = wire.receive(connection)
        return header["right"]

    CompilerBisector.in_process_cache = folder
    with contextlib.redirect_stdout(io.StringIO()):
        result = CompilerBisector.do_bisect(is_right)
    found = {**vars(result), **switch(result.backend, result.subsystem)} if result else None
    wire.send(connection, {"found": found})


def switch(backend, subsystem):
    """Returns {"setting": "emulate_precision_casts", "switch": "emulate_precision_casts=True"} for a subsystem that
    sets an entry of a configuration, else {"setting": None, "switch": None}."""
    change = CompilerBisector.get_subsystem_object(backend, subsystem) if subsystem else None
    if not isinstance(change, ConfigChange):
        return {"setting": None, "switch": None}
    return {"setting": change.config_field, "switch": f"{change.config_field}={change.config_value}"}


def parts():
    """Returns all that the bisector can leave out, in order: "aot_eager", "inductor/lowerings"."""
    return [
        name
        for backend, subsystems in BACKENDS.items()
        for name in [backend, *(f"{backend}/{subsystem.name}" for subsystem in subsystems)]
    ]


def take_part(folder):
    """From here on this process compiles what the bisector's state in the folder says."""
    CompilerBisector.in_process_cache = folder
    CompilerBisector.bisection_enabled = True
    CompilerBisector.disable_subsystem = naming_parts(CompilerBisector.disable_subsystem)
    GraphTransformObserver.apply_graph_pass = remembering(GraphTransformObserver.apply_graph_pass)
    inductor_config.fx_graph_cache = False  # knows nothing of what is left out
    functorch_config.enable_autograd_cache = False


passes_under_way: list[tuple[object, object]] = []  # the patterns and the graph of each, the innermost last


def remembering(apply):
    """Returns GraphTransformObserver.apply_graph_pass, which asks the bisector whether the pass is left out, with the
    passes noted that are under way."""

    def observed(self, apply_pass):
        passes_under_way.append((getattr(apply_pass, "__self__", None), self.gm.graph))
        try:
            return apply(self, apply_pass)
        finally:
            passes_under_way.pop()

    return observed


def naming_parts(is_disabled):
    """Returns the function that tells whether the bisector leaves a part out, with better names in what it reports: a
    lowering is named after its overload, a numbered set of patterns after those of them that match.

    PyTorch names a lowering after the node: `sum_1`, which no operator is called, and `div` for each overload of it;
    and a set of patterns `pass_pattern_1`.
    """

    def question(backend, subsystem, debug_info=None):
        named = debug_info
        if subsystem == "lowerings":
            named = lambda: overload_name(V.graph.current_node.target)  # noqa: E731
        elif subsystem == "decomposition" and debug_info:
            named = lambda: decomposed_name(debug_info())  # noqa: E731
        elif debug_info and passes_under_way and isinstance(passes_under_way[-1][0], PatternMatcherPass):
            named = lambda: matching_patterns(*passes_under_way[-1]) or debug_info()  # noqa: E731
        return is_disabled(backend, subsystem, named)

    return question


def matching_patterns(patterns, graph):
    """Returns the names of the patterns that match in a graph, by the functions that replace what they match:
    "pointless_cumsum_replacement"; empty where one has none. Nothing is replaced."""
    names = {}
    for (kind, target), entries in list(patterns.patterns.items()):
        for node in graph.find_nodes(op=kind, target=target):
            names |= dict.fromkeys(replacement_name(entry) for entry in entries if applies(entry, node))
    return "" if "" in names else ", ".join(names)


def overload_name(overload):
    """Returns "sinh" for aten.sinh.default, and "aten.div.Tensor_mode" for another overload, or of another library."""
    name = str(overload)
    plain = name.removeprefix("aten.").removesuffix(".default")
    return plain if name == f"aten.{plain}.default" else name


def decomposed_name(text):
    """Returns "native_layer_norm" for "<OpOverload(op='aten.native_layer_norm', overload='default')>", which is how
    PyTorch prints most operators that it decomposes; any other text as it is."""
    found = re.fullmatch(r"<OpOverload\(op='([\w.]+)', overload='(\w+)'\)>", text)
    return overload_name(f"{found[1]}.{found[2]}") if found else text


def replacement_name(pattern):
    """Returns the name that a pattern has, or its function; empty for a function without one."""
    name = getattr(pattern, "pattern_name", None) or getattr(getattr(pattern, "handler", None), "__name__", "")
    return name if name.isidentifier() else ""


def applies(pattern, node):
    """True if the pattern matches at a node. Its own check may look for what only the passes before it leave; one that
    raises may be what raises in the pass."""
    match = pattern.pattern.match(node)
    try:
        return is_match(match) and bool(pattern.extra_check(match))
    except Exception:
        return True
