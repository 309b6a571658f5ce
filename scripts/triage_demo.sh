#!/usr/bin/env bash
# Three nights of triage in out/triage-demo, over models of fixtures/: a first one; one in which a fault is repaired, a
# backend's build is broken and a model is added; and one in which the build is whole again. (scripts/triage.sh --demo)
# --python INTERPRETER: inductor too, in the third night that of the torch in INTERPRETER, with two cases, one of which
# 2.14 has mended: a fix takes two clean nights, so it is "known, passes" in that one.
set -euo pipefail
other=
if [ $# -gt 0 ]; then
  [ "$1" = --python ] && [ -n "${2:-}" ] || { echo "--demo takes --python INTERPRETER, nothing else" >&2 && exit 2; }
  other=$2
fi
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
demo=$root/out/triage-demo
program=${REPRO_MINIFY_PROGRAM:-$root/build/repro-minify}
backends=freeze,jit,inductor-like${other:+,inductor}

rm -rf "$demo"
mkdir -p "$demo/models"
take() { cp -r "$root/fixtures/$1" "$demo/models/"; }

# The demo's own switch: repro-minify with a fault of inductor-like's own on purpose (FAULT), or without the
# backend BROKEN.
cat >"$demo/repro-minify" <<SHIM
#!/usr/bin/env bash
arguments=()
for word in "\$@"; do
  if [ -n "\${BROKEN:-}" ] && [[ \$word == *"\$BROKEN"* && \$word != */* ]]; then
    word=\$(tr ',' '\n' <<<"\$word" | grep -vx "\$BROKEN" | paste -sd,)
  fi
  arguments+=("\$word")
done
[ "\${1:-}" = --version ] || arguments+=(\${FAULT:+--inject "\$FAULT"})
exec "$program" "\${arguments[@]}"
SHIM
chmod +x "$demo/repro-minify"

interpreter=()
night() {
  printf '\n== %s\n' "$1"
  shift
  env REPRO_MINIFY_PROGRAM="$demo/repro-minify" "$@" "$root/scripts/triage.sh" run "$demo/models" \
    --backend "$backends" "${interpreter[@]}" --store "$demo/store" || printf '(exit code %s)\n' $?
  "$root/scripts/triage.sh" list --store "$demo/store"
}

for case in jit_type_as_dce jit_einsum_view_alias freeze_linear_bn_3d freeze_conv_mul_double_dtype; do
  take "cases/$case"
done
take small_models/conv_net
if [ -n "$other" ]; then
  take cases/inductor_183763_sinh_overflow
  take cases/inductor_191499_u8_min
fi
night "night 1: a build with a fault in relu on purpose" FAULT=relu-accuracy
take cases/jit_peephole_bool_mul1
night "night 2: the fault is repaired, freeze is broken, a model is added" BROKEN=freeze
interpreter=(${other:+--python "$other"})
night "night 3: nothing is broken${other:+, and torch is another}" BROKEN=
"$root/scripts/triage.sh" report --store "$demo/store" || true
