#!/usr/bin/env bash
# scripts/triage.sh COMMAND...: repro-minify-triage from a clone; sets up and builds what is missing.
# (docs/triage.md; --help lists the commands; --demo shows three nights over models of fixtures/, and with
# --demo --python INTERPRETER the third under inductor of the torch in that one)
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# The commands and what each does, read from the source, so that it can be said before anything is set up.
list_commands() {
  sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$root/scripts/triage.sh"
  printf '\nCommands (scripts/triage.sh COMMAND --help says more of one):\n'
  awk -F '[("]+' '
    /^@app\.command\(/ { name = $2; listed = 1 }
    listed && /^def / { sub(/^def /, "", $1); name = name == ")" ? $1 : name }
    listed && /^    """/ { printf "  %-10s%s\n", name, $2; listed = 0 }
  ' "$root/src/triage/repro_minify_triage/command_line.py"
}

# The program that was built last, by scripts/demo.sh for one; otherwise any that was built.
find_program() {
  local program
  for program in "$root"/build/{,release/,dev/}repro-minify; do
    if [ -x "$program" ]; then
      printf '%s\n' "$program"
      return
    fi
  done
}

if [ $# -eq 0 ] || [ "$1" = --help ]; then
  list_commands
  exit
fi
if ! python3 -c 'import ensurepip, venv' 2>/dev/null; then
  . "$root/scripts/packages.sh"
  install_packages python3 python3-venv >&2
fi
python_venv_extra='' # what checks the project's Python is not needed here
. "$root/scripts/python_venv.sh"
if [[ $1 = run || $1 = --demo ]] && [[ " $* " != *" --help "* && " $* " != *" --program"* ]]; then
  export REPRO_MINIFY_PROGRAM=${REPRO_MINIFY_PROGRAM:-$(find_program)}
  if [ -z "$REPRO_MINIFY_PROGRAM" ]; then
    echo "triage: no repro-minify is built yet: building it, which takes minutes" >&2
    "$root/scripts/build.sh" release repro-minify >&2
    REPRO_MINIFY_PROGRAM=$root/build/repro-minify
  fi
fi
[ "$1" != --demo ] || exec "$root/scripts/triage_demo.sh" "${@:2}"
exec "$python_venv/bin/repro-minify-triage" "$@"
