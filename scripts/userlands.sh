#!/usr/bin/env bash
# scripts/userlands.sh WHEEL CELL...: tries a wheel in userlands that are not this one, each made by debootstrap, as an
# ordinary user who has Python, pip and PyPI (scripts/try_wheel.sh), and prints a table. Needs root, and debootstrap. A
# cell is SUITE[+PACKAGE,...]:TORCH: bookworm:2.13.0 has no compiler, trixie+g++,python3-dev:2.15.0 has all that
# TorchInductor asks for, and testing has Python 3.14. The userlands, and what each said, are kept in $USERLANDS
# (/var/tmp/repro-minify-userlands). MIRROR, COMPONENTS, and debootstrap's SCRIPT for a suite that it does not know, are
# taken from the environment.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
wheel=$(realpath "$1")
shift
out=${USERLANDS:-/var/tmp/repro-minify-userlands}
mkdir -p "$out"
mirror=${MIRROR:-$(apt-get indextargets --format '$(SITE)' | grep -m 1 '/debian$')}

make_userland() { # suite packages folder
  [ ! -e "$3/made" ] || return 0
  rm -rf --one-file-system "$3"
  # shellcheck disable=SC2086 # no script: debootstrap's own for the suite
  debootstrap --variant=minbase --components="${COMPONENTS:-main}" \
    --include="ca-certificates,python3,python3-venv$2" "$1" "$3" "$mirror" ${SCRIPT:-} \
    >"$3.log" 2>&1 || { tail -n 5 "$3.log" >&2 && return 1; }
  umount -q "$3/proc" "$3/sys" || true # debootstrap leaves them
  chroot "$3" useradd -m user
  touch "$3/made"
}

# In namespaces of its own: what is mounted there is gone with the last process.
enter() { # folder command...
  # shellcheck disable=SC2016 # the inner shell reads it
  unshare --mount --pid --fork -- sh -c 'mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" &&
    folder=$1 && shift && exec chroot "$folder" setpriv --reuid=user --regid=user --clear-groups --no-new-privs \
    env -i HOME=/home/user PATH=/usr/bin:/bin TMPDIR=/home/user LANG=C.UTF-8 "$@"' sh "$@"
}

columns=(userland Python torch 'installed, to first verified repro' '`--version`' README '`.pt2`' '`torch.compile`'
         triage removed)
printf '| %s ' "${columns[@]}"
printf '|\n'
printf '|---%.0s' "${columns[@]}"
printf '|\n'
failed=0
for cell in "$@"; do
  what=${cell%%:*} torch=${cell#*:}
  userland=$out/$what
  make_userland "${what%%+*}" "$(cut -s -d+ -f2- <<<"$what" | sed 's/^/,/')" "$userland"
  # What this machine trusts, and how its resolver is asked.
  cp /etc/resolv.conf "$userland/etc/resolv.conf"
  cp /etc/ssl/certs/ca-certificates.crt "$userland/etc/ssl/certs/ca-certificates.crt"
  install -m 755 "$root/scripts/try_wheel.sh" "$userland/home/user/"
  install -m 644 "$wheel" "$root/README.md" "$userland/home/user/"
  row=$(enter "$userland" bash /home/user/try_wheel.sh "/home/user/$(basename "$wheel")" "$torch" /home/user/README.md \
    2>"$out/$what-$torch.log") || failed=1
  printf '| %s | %s\n' "$what" "${row:-no answer: $out/$what-$torch.log}"
done
exit $failed
