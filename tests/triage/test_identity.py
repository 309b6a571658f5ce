"""Which failures are one bug, and which may be."""

from dataclasses import replace
from typing import Any

from repro_minify_triage.identity import Key, furthest_first, key_of, perhaps_same, without_dtypes, without_numbers

KEY = Key("freeze", "accuracy", "FoldLinear", "", "return aten::a(%1:float32)", "a")


def test_each_part_counts() -> None:
    others = [
        replace(KEY, backend="jit"),
        replace(KEY, kind="nan"),
        replace(KEY, guilty="Other"),
        replace(KEY, detail="x"),
        replace(KEY, essence="b"),
    ]
    assert len({key.text for key in [KEY, *others]}) == 6


def test_a_result_that_others_read_too_makes_it_perhaps_the_same() -> None:
    """Linear and batch norm in a chain, and the same where the caller gets what linear gave: two faults of one step."""
    chain = replace(KEY, guilty="", essence="batch_norm", shared_results=0)
    kept = replace(chain, shared_results=1)
    assert chain.text != kept.text and not chain.is_one_bug_with(kept)
    ((number, why),) = perhaps_same(chain, [(2, kept)])
    assert number == 2 and "shape of the reduced graph" in why
    older = Key.from_dict({name: part for name, part in chain.as_dict().items() if name != "shared_results"})
    assert older.is_one_bug_with(chain) and older.is_one_bug_with(kept)  # it did not say
    said = {"canonical": "return a", "essence": "a", "shared_results": 2}
    assert key_of(report() | {"program": said}, "jit", "m").shared_results == 2
    assert key_of(report(), "jit", "m").shared_results is None


def report(**parts: Any) -> dict[str, Any]:
    program = {"canonical": "return aten::a(%1)", "essence": "a"}
    verdict = {"kind": "exception", "detail": parts.get("detail", "")}
    return {"verdict": verdict, "bisect": {"pass": "Step"}, "program": program}


def test_the_type_of_a_tensor_in_a_message_does_not_count() -> None:
    said = ["result type Float can't be cast to the desired output type Long",
            "result type Double can't be cast to the desired output type Int"]  # fmt: skip
    assert len({key_of(report(detail=text), "static-runtime", "m").text for text in said}) == 1
    assert without_dtypes("expected c10::BFloat16, found torch.float32") == "expected T, found T"
    assert without_dtypes("[CPUFloatType [N]] of torch.LongTensor") == "[T [N]] of T"
    assert without_dtypes("RuntimeError: size N is odd") == without_dtypes("size N is odd") == "size N is odd"
    assert without_dtypes("interval, floating, boolean, intern") == "interval, floating, boolean, intern"


def test_which_time_a_step_ran_does_not_count() -> None:
    steps = {"inductor/lowerings#1": "inductor/lowerings", "inductor/lowerings#2": "inductor/lowerings",
             "inductor/codegen#1": "inductor/codegen"}  # fmt: skip
    bisections = [{"guilty": step, "pass": of_pass} for step, of_pass in steps.items()]
    assert len({key_of(report() | {"bisect": each}, "inductor", "m").text for each in bisections}) == 2


def test_what_was_not_reduced_is_like_no_other() -> None:
    one, other = replace(KEY, essence="", canonical="model 1"), replace(KEY, essence="", canonical="model 2")
    assert one.text != other.text


def test_numbers_in_messages_do_not_count() -> None:
    one = "The size of tensor a (3) must match the size of tensor b (2) at dimension 0, shape [2, 3] at 0x7f12"
    other = "The size of tensor a (17) must match the size of tensor b (4) at dimension 1, shape [5] at 0x55"
    assert without_numbers(one) == without_numbers(other)
    shapes = [f"mat1 and mat2 shapes cannot be multiplied ({a} and {b})" for a, b in (("2x5", "3x4"), ("17x6", "8x8"))]
    assert without_numbers(shapes[0]) == without_numbers(shapes[1])
    assert without_numbers("float32 is not bfloat16") == "float32 is not bfloat16"


def test_what_agrees_in_part_is_perhaps_the_same_with_the_reason() -> None:
    same_step = replace(KEY, kind="nan", canonical="return aten::a(aten::b(%1:float32))")
    other = Key("jit", "exception", "CSE", "raises", "return aten::c(%1)", "c")
    found = perhaps_same(KEY, [(2, other), (3, same_step), (4, replace(KEY, backend="jit", detail=""))])
    assert [number for number, _ in found] == [4, 3]
    assert "guilty step" in found[1][1]


def test_the_first_of_a_list_are_different() -> None:
    keys = {
        1: KEY,
        2: replace(KEY, kind="nan"),
        3: replace(KEY, kind="inf"),
        4: Key("jit", "nan", "CSE", "", "d", "d"),
        5: Key("nnc", "exception", "Fuse", "raises", "e", "e"),
    }
    assert set(furthest_first(keys)[:3]) == {1, 4, 5}
    assert sorted(furthest_first(keys)) == [1, 2, 3, 4, 5]
    assert furthest_first({}) == []
