

def test_the_interpreter_is_the_builds_and_not_the_variants() -> None:
    job = replace(check_job("1", "m.pt", [Variant("jit", ("--grad",))], 60), python="/a/python")
    command = command_of(job, Path("/f"), "repro-minify", Path("/o"))
    assert command[-2:] == ["--python", "/a/python"]
    assert str(Variant(job.backends[0], job.options)) == "jit --grad"
