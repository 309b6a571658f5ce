"""Asks torch._dynamo.debug_utils.same_two_models, PyTorch's accuracy check, about every model of fixtures/cases and
about programs drawn at random.

    python two_models_oracle.py FOLDER COUNT SEED CASES

For each program NAME.pt and NAME.inputs.pt (a tuple) are written to FOLDER, and one row of programs.pt, all of which
torch::jit::pickle_load reads. What a program looks like is two_models_programs.py's matter; how PyTorch is asked is
this file's.

Our check calls the optimised program three times and fails with the first call that is wrong. PyTorch calls a model
once, so it is asked three times, about models that have been called zero, one and two times before. The first answer
that is not "same" is what it says.

Where our check goes further than PyTorch, each of EXTENSIONS makes PyTorch's own functions go as far. With all of them
PyTorch's answer must be ours; which ones it takes is the reason for a difference.
"""

import contextlib
import copy
import gc
import io
import itertools
import json
import logging
import os
import pickle
import sys
import traceback
import warnings
from pathlib import Path

try:
    import torch
    from torch._dynamo import config, debug_utils, testing, utils
except ImportError as error:
    print(error)
    sys.exit(77)  # the test is skipped

from two_models_programs import CALLS, clone, draw_program, read_case, tensors_in, widen_script, widen_value

PROCESSES = 2

# The points in which our check goes further than PyTorch's. The test prints their texts.
EXTENSIONS = {
    "raises": "the optimised run raises (PyTorch counts it as the same)",
    "same": "the comparison itself raises (PyTorch has no answer)",
    "copy": "the backend runs a copy of the module: its own parameters and buffers say nothing",
    "inputs": "an input is left different (PyTorch looks at its gradient only)",
    "zeros": "an input has no gradient on one side (PyTorch: None is not zeros)",
    "loss": "PyTorch cannot make a loss of the output (None, a number, a dict, complex)",
    "nested": "inputs in lists (PyTorch does not copy them: both runs share their gradients and contents)",
    "wide": "PyTorch's fp64 reference keeps a narrow dtype (complex, and the dtype of x.to(...))",
    "script": "TorchScript's compiler drops a write that only backward would have noticed",
}


# ----------------------------------------------------------------------------------------------------------------------
# The two models


class NoNodes:
    """Stands for the torch.fx graph that a TorchScript module lacks; widen_script does what is left to do."""

    nodes = ()

    def lint(self):
        pass


class Model(torch.nn.Module):
    """A model that same_two_models can be asked about: the `call`th call of `program`, counted from 1.

    run_fwd_maybe_bwd runs a deep copy of what it is given, and executors and constants keep what earlier runs left in
    them: a copy is made afresh and is called call - 1 times first, backward included.
    """

    def __init__(self, program, call, seen, double=False):
        super().__init__()
        self.program, self.call, self.seen, self.double = program, call, seen, double

    def __deepcopy__(self, memo):
        return type(self)(self.program, self.call, self.seen, self.double)

    def forward(self, *arguments):
        with self.program.settings(double=bool(self.double)):
            for _ in range(self.call - 1):
                self.warm_up(arguments)
            torch.default_generator.manual_seed(0)
            result = self.run(*arguments)
        self.seen["after"] = arguments
        return result

    def warm_up(self, arguments):
        arguments = [clone(argument) for argument in arguments]
        torch.default_generator.manual_seed(0)
        result = self.run(*arguments)
        if not self.program.grad:
            return
        try:
            loss = testing.reduce_to_scalar_loss(result) if testing.requires_bwd_pass(result) else None
        except NotImplementedError:
            return
        leaves = [t for t in [*self.parameters(), *tensors_in(arguments)] if t.requires_grad]
        if isinstance(loss, torch.Tensor) and loss.requires_grad and leaves:
            torch.autograd.grad(loss, leaves, allow_unused=True)


class Eager(Model):
    def __init__(self, program, call, seen, double=False):
        super().__init__(program, call, seen, double)
        as_fx = program.fx is not None and double is not True
        self.module = program.clear_gradients(copy.deepcopy(program.fx) if as_fx else program.load())
        if double == "fx":  # PyTorch has been here
            self.module = cast_as_pytorch(self.module)
        elif double:
            widen_script(self.module)

    @property
    def graph(self):
        return self.module.graph if self.program.fx is not None else NoNodes()

    def recompile(self):
        if self.program.fx is not None:
            self.module.recompile()
            self.double = "fx"
        else:
            self.double = True

    def run(self, *arguments):
        with torch.jit.optimized_execution(False):
            return self.module(*arguments)


def cast_as_pytorch(module):
    return debug_utils.cast_dtype_args_to_fp64(module.to(torch.float64))


class Optimised(Model):
    def __init__(self, program, call, seen, double=False):
        super().__init__(program, call, seen, double)
        self.module = program.clear_gradients(program.load())
        self.compiled = None

    def run(self, *arguments):
        if self.compiled is None:
            self.compiled = self.program.compile(self.module)
        return self.compiled(*arguments)


# ----------------------------------------------------------------------------------------------------------------------
# PyTorch's functions, extended


def extended_requires_bwd_pass(out):
    return any(tensor.requires_grad for tensor in tensors_in(out))


def extended_loss(out):
    if isinstance(out, torch.Tensor):
        return (torch.view_as_real(out.resolve_conj()).sum() if out.is_complex() else out.sum()) / out.numel()
    parts = out.values() if isinstance(out, dict) else out if isinstance(out, (list, tuple)) else []
    losses = [loss for loss in map(extended_loss, parts) if loss is not None]
    return sum(losses) / len(losses) if losses else None


def clone_inputs(inputs):
    return [clone(value) for value in inputs]


def extended_cast(model, inputs):
    model = copy.deepcopy(model)
    wide = type(model)(model.program, model.call, model.seen, double=True)
    return wide, [widen_value(value) for value in inputs]


@contextlib.contextmanager
def replaced(module, name, value):
    original = getattr(module, name)
    setattr(module, name, value)
    try:
        yield original
    finally:
        setattr(module, name, original)


class Question:
    """same_two_models about one call of a program, with some of the EXTENSIONS, and what it did meanwhile."""

    def __init__(self, program, call, extensions):
        self.program, self.call, self.extensions = copy.copy(program), call, extensions
        if "script" in extensions:
            self.program.fx = None
        self.runs = []  # of run_fwd_maybe_bwd: what each returned, None if it raised
        self.after = []  # and the inputs that it left
        self.seen = {}
        self.compared = False
        self.message = ""

    def run(self, original, model, args, only_fwd=False, disable_clone=False):
        self.runs.append(None)
        self.after.append(None)
        try:
            result = original(model, args, only_fwd, disable_clone)
        except Exception as error:
            self.message = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
            raise
        self.runs[-1] = result
        self.after[-1] = [clone(value) for value in self.seen["after"]]
        return result

    def same(self, original, ref, res, fp64_ref=None, *positional, **options):
        if self.compared:  # it calls itself
            return original(ref, res, fp64_ref, *positional, **options)
        self.compared = True
        references = [ref, res, fp64_ref]
        if not self.program.only_forward:
            references = [self.extend(reference, index) for index, reference in enumerate(references)]
        try:
            return bool(original(*references, **options))
        except Exception as error:
            self.message = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
            if "same" in self.extensions:
                return False
            raise

    def extend(self, results, index):
        """Changes a result of collect_results: prediction, loss, gradients, parameters, buffers, inputs' gradients."""
        if results is None:
            return None
        results = list(results)
        if "copy" in self.extensions and not self.program.runs_the_module:
            results[3], results[4] = {}, {}
        if "zeros" in self.extensions and self.program.grad:
            leaves = [t for t in tensors_in(list(self.program.inputs))]
            results[5:] = [
                torch.zeros_like(leaf) if gradient is None and leaf.requires_grad else gradient
                for gradient, leaf in zip(results[5:], leaves)
            ]
        if "inputs" in self.extensions:
            which = index if index == 0 else (len(self.after) - 1 if index == 1 else 1)
            results.append(self.after[which])
        return results

    def answer(self):
        with contextlib.ExitStack() as stack:

            def replace(module, name, value):
                stack.enter_context(replaced(module, name, value))

            original_same, original_run = utils.same, debug_utils.run_fwd_maybe_bwd
            replace(utils, "same", lambda *args, **options: self.same(original_same, *args, **options))
            replace(debug_utils, "run_fwd_maybe_bwd", lambda *args, **options: self.run(original_run, *args, **options))
            if "loss" in self.extensions:
                replace(testing, "requires_bwd_pass", extended_requires_bwd_pass)
                replace(testing, "reduce_to_scalar_loss", extended_loss)
            if "wide" in self.extensions:
                replace(debug_utils, "cast_to_fp64", extended_cast)
            if "nested" in self.extensions:
                replace(debug_utils, "clone_inputs_retaining_gradness", clone_inputs)
            stack.enter_context(torch.set_grad_enabled(self.program.grad))
            stack.enter_context(config.patch(repro_tolerance=self.program.tol))
            try:
                is_same = debug_utils.same_two_models(
                    Eager(self.program, self.call, self.seen),
                    Optimised(self.program, self.call, self.seen),
                    [clone(value) for value in self.program.inputs],
                    only_fwd=self.program.only_forward,
                    ignore_non_fp=self.program.ignore_non_fp,
                )
            except Exception:
                return "raises"
        if not self.compared and "raises" in self.extensions:
            return "different"
        return "same" if is_same else "different"

    def where(self):
        """Returns how far PyTorch's check got."""
        if self.compared:
            return "comparison"
        return "eager run" if len(self.runs) == 1 else "optimised run"


class Answer:
    """PyTorch's answer for a program, the three calls together."""

    def __init__(self, program, extensions=()):
        self.message, self.where = "", ""
        self.fp64 = False
        for self.call in range(1, CALLS + 1):
            question = Question(program, self.call, extensions)
            answer = question.answer()
            self.fp64 = len(question.runs) == 3 and question.runs[1] is not None
            self.message = self.message or question.message
            self.where = question.where() if answer != "same" or not question.compared else self.where
            self.text = answer
            if answer != "same":
                break


def reasons(program, extended):
    """The fewest EXTENSIONS that make PyTorch's answer the extended one."""
    for count in range(1, len(EXTENSIONS) + 1):
        for names in itertools.combinations(EXTENSIONS, count):
            if Answer(program, names).text == extended.text:
                return " + ".join(EXTENSIONS[name] for name in names)
    return ""


def ask(program):
    pytorch = Answer(program)
    extended = Answer(program, tuple(EXTENSIONS))
    return {
        "pytorch": pytorch.text,
        "where": pytorch.where,
        "message": pytorch.message,
        "extended": extended.text,
        "extended_where": extended.where,
        "extended_call": extended.call,
        "reason": reasons(program, extended) if pytorch.text != extended.text else "",
        "pytorch_fp64": pytorch.fp64,
        "extended_fp64": extended.fp64,
    }


# ----------------------------------------------------------------------------------------------------------------------
# One process for each program: backends set global flags, and may crash


def in_child(job):
    """Starts `job`, which writes to the pipe that it is given."""
    source, target = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(source)
        try:
            with os.fdopen(target, "wb") as pipe:
                job(pipe)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    os.close(target)
    return child, source


def row_from(child, source):
    with os.fdopen(source, "rb") as pipe:
        data = io.BytesIO(pipe.read())
    _, status = os.waitpid(child, 0)
    row = {"pytorch": "crashes", "extended": "crashes", "where": "", "message": f"status {status}", "reason": ""}
    row |= {"pytorch_fp64": False, "extended_fp64": False, "extended_where": "", "extended_call": 0}
    while data.tell() < len(data.getbuffer()):
        row |= pickle.load(data)
    return row


def answer_one(make, folder, pipe):
    program = make()
    torch.save(tuple(program.inputs), folder / f"{program.name}.inputs.pt")
    torch.save(program.noise, folder / f"{program.name}.noise.pt")
    pickle.dump(program.description(), pipe)
    pipe.flush()  # asking may be the death of this process
    with contextlib.redirect_stderr(io.StringIO()):  # torch.fx prints the code that raises
        answers = ask(program)
    pickle.dump(answers, pipe)


def main():
    folder, count, seed, cases = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    folder.mkdir(parents=True, exist_ok=True)
    makers = []
    for case in json.loads((cases / "expected.json").read_text()):
        if case["backend"] != "inductor":
            makers.append(lambda case=case: read_case(cases, case))
    for index in range(count):
        makers.append(lambda index=index: draw_program(folder, index, seed))
    gc.freeze()  # or each child copies what the collector looks at
    rows, running = [], []
    for make in makers:
        running.append(in_child(lambda pipe, make=make: answer_one(make, folder, pipe)))
        if len(running) == PROCESSES:
            rows.append(row_from(*running.pop(0)))
    rows += [row_from(*process) for process in running]
    torch.save(rows, folder / "programs.pt")


if __name__ == "__main__":
    main()
