#!/usr/bin/env bash
# scripts/test_python.sh [pytest's arguments]: makes a wheel, installs it into a fresh virtual environment that has the
# same torch, not the one it was built against, and runs tests/python and tests/inputs there. Needs a Python with torch;
# says so and does nothing where scripts/setup.sh found none.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh" >&2
if [ -z "$torch_python" ]; then
  say "Python with torch: none, so the package is not tested"
  exit 0
fi
environments=$root/build/python-tests
site_of() { "$1" -c 'import sysconfig; print(sysconfig.get_path("platlib"))'; }

# A virtual environment with everything that torch's has: hard links cost nothing, where the disk is the same.
make_environment() {
  local site pip=()
  rm -rf "$1"
  [ ! -d "$torch_site/pip" ] || pip=(--without-pip)
  "$torch_python" -m venv "${pip[@]}" "$1"
  site=$(site_of "$1/bin/python")
  cp -al "$torch_site/." "$site/" 2>/dev/null || cp -a "$torch_site/." "$site/"
  rm -rf "$site"/repro_minify* # another installation of it
}

torch_site=$("$torch_python" -c 'import importlib.util as u; print(u.find_spec("torch").submodule_search_locations[0])')
torch_site=${torch_site%/torch}
mkdir -p "$environments"
make_environment "$environments/fresh"
rm -rf "$environments/wheel"
# With --all GCC compiles it, as on most machines, where scripts/build.sh takes Clang: the code is seen by both. Else it
# has the program that the build made.
built=()
[ -n "${REPRO_MINIFY_ALL_TESTS:-}" ] || built=(--config-settings cmake.define.REPRO_MINIFY_BUILT="$root/build/release")
CXX=${CXX:-c++} CMAKE_BUILD_PARALLEL_LEVEL=$(nproc) "$environments/fresh/bin/python" -m pip wheel -q --no-deps \
  --disable-pip-version-check -w "$environments/wheel" "${built[@]}" \
  --config-settings cmake.define.REPRO_MINIFY_WERROR=ON --config-settings cmake.define.Torch_DIR="$torch_dir" "$root"
"$environments/fresh/bin/python" -m pip install -q --disable-pip-version-check "$environments"/wheel/*.whl 'pytest>=8' \
  'pytest-randomly>=3.15'

cd "$environments" # not the clone: what is imported is what was installed
env -u PYTHONPATH -u REPRO_MINIFY_PROGRAM "$environments/fresh/bin/python" -m pytest -q -p no:cacheprovider \
  "$root/tests/python" "$root/tests/inputs" "$@"
