# Debian packages, for scripts that source this.
say() { printf 'setup: %s\n' "$*"; }
die() { printf 'setup: %s\n' "$*" >&2; exit 1; }

# missing_packages NAME...: those of Debian that are missing, a line each.
missing_packages() {
  local package
  for package in "$@"; do
    dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || echo "$package"
  done
}

# install_packages NAME...: those of Debian that are missing. Not root and no sudo: says what to ask for, and ends the
# script. Another system: says what is needed, and goes on.
install_packages() {
  local missing
  if ! command -v dpkg-query >/dev/null; then
    say "not a Debian system: it needs what these packages hold: $*"
    return
  fi
  mapfile -t missing < <(missing_packages "$@")
  if [ ${#missing[@]} -eq 0 ]; then
    say "Debian packages: all present"
    return
  fi
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "neither root nor sudo; ask for: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  say "installing ${missing[*]}"
  "${as_root[@]}" apt-get update -q
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"
}
