#!/usr/bin/env bash
# scripts/triage.sh COMMAND...: repro-minify-triage from a clone; sets up and builds what is missing.
# (docs/triage.md; --help lists the commands; --demo shows three nights over models of fixtures/, and with
# --demo --python INTERPRETER the third under inductor of the torch in that one)
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/scripts/python_venv.sh"

export REPRO_MINIFY_PROGRAM=${REPRO_MINIFY_PROGRAM:-$root/build/release/repro-minify}
[ -x "$REPRO_MINIFY_PROGRAM" ] || "$root/scripts/build.sh" release repro-minify >&2
[ "${1:-}" != --demo ] || exec "$root/scripts/triage_demo.sh" "${@:2}"
exec "$python_venv/bin/repro-minify-triage" "$@"
