#!/usr/bin/env python3
"""Reduces one function of programs.py from Python: fx_row.py NAME DEVICE OUTPUT. Exit code 0 if it was reduced, 1 if it
does not fail, 2 if it was refused; the sentence goes to standard error."""

import sys

from programs import PROGRAMS

import repro_minify


def main() -> int:
    name, device, output = sys.argv[1:]
    function, inputs_on = PROGRAMS[name]
    try:
        repro_minify.minify(function, inputs_on(device), "inductor", output=output, jobs=2, quiet=True)
    except repro_minify.DoesNotFail as error:
        print(error, file=sys.stderr)
        return 1
    except repro_minify.ReproMinifyError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
