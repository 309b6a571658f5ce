#!/usr/bin/env bash
# scripts/try_wheel.sh WHEEL TORCH README: the first hour of a user with a wheel of repro-minify, in a new folder, with
# the Python and the compiler that are there, as any user, on any Linux. TORCH is a version on PyPI; README is the
# project's, whose first lines of Python are run. Says what each step answers on standard error, and prints one row of a
# table. Exit code 1 if a step did not do what it should; what needs a compiler has to say so where there is none.
set -uo pipefail
wheel=$(realpath "$1") torch=$2 readme=$(realpath "$3")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
export PIP_DISABLE_PIP_VERSION_CHECK=1
failed=0
say() { printf '\n== %s\n' "$*" >&2; }

# step NAME COMMAND...: `cell` is "yes" or "NO", with its seconds; what it prints is kept as NAME.log.
TIMEFORMAT='%0R s, %0U s of a processor'
step() {
  say "$1"
  local seconds
  cell=yes
  seconds=$({ time "${@:2}" >"$1.log" 2>&1; } 2>&1) || { cell=NO failed=1; }
  tail -n 25 "$1.log" >&2
  cell+=", $seconds"
  printf '%s: %s\n' "$1" "$cell" >&2
}

python3 -m venv v && . v/bin/activate
step torch pip install -q "torch==$torch" numpy
python=$(python -c 'import sys; print("%d.%d" % sys.version_info[:2])')
version=$(python -c 'import torch; print(torch.__version__)')

cat >freeze.py <<'P'
import torch, repro_minify
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.BatchNorm1d(4), torch.nn.ReLU()).eval()
model[1].running_var.uniform_(0.5, 2)
result = repro_minify.minify(model, torch.randn(2, 4, 8), backend="freeze", quiet=True)
print(result.program)
assert result.verified, result.report["verification"]
P
cat >pt2.py <<'P'
import torch
class Round(torch.nn.Module):
    def forward(self, x):
        return torch.round(x.relu(), decimals=-3)
torch.export.save(torch.export.export(Round(), (torch.tensor([90500.0]),)), "round.pt2")
P
cat >compile.py <<'P'
import logging, torch
logging.basicConfig(level=logging.INFO)
model = torch.compile(lambda x: torch.round(x.relu(), decimals=-3), backend="repro_minify")
assert model(torch.tensor([90500.0])).item() == 90000  # the user's program goes on with what is right
P
cat >models.py <<'P'
import pathlib, torch
pathlib.Path("models").mkdir()
norm = torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.BatchNorm1d(4)).eval()
norm[1].running_var.uniform_(0.5, 2)
models = {"norm": (norm, torch.randn(2, 4, 8)), "linear": (torch.nn.Linear(3, 2), torch.randn(2, 3)),
          "tanh": (torch.nn.Tanh(), torch.randn(3))}
for name, (model, x) in models.items():
    pathlib.Path("models", name).mkdir()
    torch.jit.save(torch.jit.trace(model, x), f"models/{name}/failing.pt")
    torch.save([x], f"models/{name}/inputs.pt")
P
sed -n '/^```python$/,/^```$/p' "$readme" | sed '1d; /^```$/,$d' >readme.py

first() { pip install -q "$wheel" && python freeze.py; }
# A repro has to be of the failure that is asked about: of other values, in one call.
shows() {
  python "$1/repro.py" >said 2>&1 # it ends with 1
  grep -q 'torch.round(x, decimals=-3)' "$1/repro.py" && grep AssertionError said
}
lines() { python readme.py && shows model.repro; }
exported() { python pt2.py && repro-minify round.pt2 --backend inductor --no-ablation && shows round.repro; }
compiled() { python compile.py && shows graph-1/program.repro; }
night() {
  python models.py
  v/bin/repro-minify-triage run models --backend freeze --store triage
  [ $? = 1 ] && [ "$(v/bin/repro-minify-triage list --store triage | grep -c freeze)" = 1 ]
}
# Without a compiler: that this is what is missing has to be said.
refused() { "$1" >said 2>&1; cat said; grep -qi compiler said; }
removed() { pip uninstall -q -y repro-minify && ! ls -d v/lib/python*/site-packages/repro_minify* v/bin/repro-minify*; }

step first first
row="$python | $version | $cell"
step version repro-minify --version
row+=" | ${cell%%,*}"
for needing in lines exported compiled; do
  if command -v c++ >/dev/null; then
    step "$needing" "$needing"
    row+=" | $cell"
  else
    step "$needing" refused "$needing"
    row+=" | ${cell%%,*}: no compiler"
  fi
done
step night night
row+=" | ${cell%%,*}"
step removed removed
row+=" | ${cell%%,*}"
printf '%s |\n' "$row"
exit $failed
