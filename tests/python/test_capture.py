"""Recording the calls of a part of a user's own program."""

import contextlib
import os
import random
import signal
from pathlib import Path
from typing import Any

import numpy
import pytest
import repro_minify
import torch
from repro_minify import BadInput


class Part(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)
        self.norm = torch.nn.BatchNorm1d(3)

    def forward(self, x: torch.Tensor, others: list[torch.Tensor], *, more: dict[str, torch.Tensor]) -> torch.Tensor:
        return self.norm(self.linear(x)) * others[1] + more["bias"]


class Whole(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.part = Part()

    def forward(self, x: torch.Tensor, times: int) -> torch.Tensor:
        for i in range(times):
            x = self.part(x, [x, x + i], more={"bias": torch.full((3,), float(i))})
        return x


def replayed(recorded: repro_minify.Recorded) -> Any:
    return torch.jit.load(str(recorded.model)).eval()(*torch.load(recorded.folder / "inputs.pt"))


def test_first_calls_are_recorded(work: Path) -> None:
    whole, x = Whole().eval(), torch.rand(4, 3)
    expected = whole(x, 5)
    with repro_minify.capture(whole.part, "captured", calls=3) as captured:
        assert torch.equal(whole(x, 5), expected)
    assert [str(each.folder) for each in captured] == ["captured/call-1", "captured/call-2", "captured/call-3"]
    assert not whole.part._forward_pre_hooks and not any(each.problem for each in captured)
    for i, recorded in enumerate(captured):
        torch.testing.assert_close(replayed(recorded), whole(x, i + 1))


def test_state_is_that_of_the_call(work: Path) -> None:
    norm = torch.nn.BatchNorm1d(3)
    with repro_minify.capture(norm, work / "captured") as captured:
        for _ in range(2):
            norm(torch.rand(4, 3))
    means = [torch.jit.load(str(each.model)).state_dict()["_.running_mean"] for each in captured]
    assert torch.equal(means[0], torch.zeros(3)) and not torch.equal(means[1], torch.zeros(3))
    assert norm.num_batches_tracked is not None and int(norm.num_batches_tracked) == 2


def test_a_call_that_raises_is_recorded(work: Path) -> None:
    linear = torch.nn.Linear(3, 2)
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        with repro_minify.capture(linear, "captured") as captured:
            linear(torch.rand(4, 5))
    assert len(captured) == 1 and captured[0].problem == ""
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        replayed(captured[0])


def test_what_cannot_be_made_torchscript_leaves_its_inputs(work: Path) -> None:
    class Odd(torch.nn.Module):
        def forward(self, x: torch.Tensor, **others: torch.Tensor) -> str:
            return f"{x} {others}"

    with repro_minify.capture(odd := Odd(), "captured") as captured:
        odd(torch.ones(2), y=torch.zeros(1))
    assert "Odd cannot be made TorchScript" in captured[0].problem and not captured[0].model.exists()
    args, kwargs = torch.load(captured[0].folder / "inputs.pt")
    assert torch.equal(args[0], torch.ones(2)) and torch.equal(kwargs["y"], torch.zeros(1))


def test_whatever_cannot_be_kept_the_program_goes_on(work: Path) -> None:
    class Counts(torch.nn.Module):
        def forward(self, x: torch.Tensor, numbers: Any) -> torch.Tensor:
            return x * next(numbers)

    with repro_minify.capture(module := Counts(), work / "captured") as captured:
        assert torch.equal(module(torch.ones(2), (number for number in [3])), torch.full((2,), 3.0))
    assert captured[0].problem and module._forward_pre_hooks == {}


def test_a_hook_of_the_user_s_runs_once(work: Path) -> None:
    module, x = torch.nn.Linear(2, 2), torch.rand(1, 2)
    module.register_forward_pre_hook(lambda _, args: (args[0] * 2,))
    with repro_minify.capture(module, work / "captured") as captured, torch.no_grad():
        expected = module(x)
    torch.testing.assert_close(replayed(captured[0]), expected)


def test_generators_of_python_and_numpy_are_left_alone(work: Path) -> None:
    drawn = []

    class Draws(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            drawn.append(1)
            return x + random.random() + float(numpy.random.rand())

    states = random.getstate(), numpy.random.get_state()[1].tolist()
    with contextlib.suppress(repro_minify.ReproMinifyError):
        repro_minify.check(Draws(), torch.ones(2), backend="freeze")
    assert drawn and (random.getstate(), numpy.random.get_state()[1].tolist()) == states


def test_nothing_is_overwritten(work: Path) -> None:
    (work / "captured").mkdir()
    (work / "captured" / "something").touch()
    with pytest.raises(BadInput, match="captured: exists and is not empty; give another folder, or force=True"):
        with repro_minify.capture(torch.nn.Linear(1, 1), "captured"):
            pass


class Dies(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        os.kill(os.getpid(), signal.SIGKILL)
        return x


def test_inputs_are_on_disk_when_the_process_dies(work: Path) -> None:
    child = os.fork()
    if child == 0:
        try:
            with repro_minify.capture(dies := Dies(), "captured"):
                dies(torch.ones(1, 2))
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    args, kwargs = torch.load("captured/call-1/inputs.pt")
    assert torch.equal(args[0], torch.ones(1, 2)) and kwargs == {}


def test_it_is_reduced_like_any_model(wrong: torch.nn.Module, work: Path) -> None:
    whole = torch.nn.Sequential(torch.nn.Identity(), wrong, torch.nn.Tanh())
    with repro_minify.capture(wrong, "captured", calls=1) as captured:
        whole(torch.rand(2, 2, 3))
    assert repro_minify.check(captured[0].model, backend="freeze").failed


def test_inside_a_model_that_is_compiled(work: Path) -> None:
    whole, x = Whole().eval(), torch.rand(4, 3)
    torch._dynamo.reset()
    with repro_minify.capture(whole.part, "captured", calls=2) as captured:
        run = torch.compile(whole, backend="eager")
        torch.testing.assert_close(run(x, 3), whole(x, 3))
    assert [each.problem for each in captured] == ["", ""]
    torch.testing.assert_close(replayed(captured[1]), whole(x, 2))


def test_a_call_keeps_its_calls(work: Path) -> None:
    def scaled(x: torch.Tensor) -> torch.Tensor:
        torch._foreach_mul_([x], 2.0)
        return x + 1

    part = torch.nn.Sequential()
    part.forward = scaled
    with repro_minify.capture(part, "captured") as captured:
        part(torch.rand(3))
    program = captured[0].program
    assert program and "_foreach_mul_" in program.read_text()
