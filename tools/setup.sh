#!/bin/sh
# Installs what cvmbench needs and is missing: system packages through apt, and the Python
# environment in .venv from the hashed lock. Changes nothing that is there already.
#
# usage: tools/setup.sh demo|test
set -eu

purpose=${1:?usage: tools/setup.sh demo|test}
root=$(cd "$(dirname "$0")/.." && pwd)

packages="qemu-system-x86 qemu-utils mmdebstrap e2fsprogs iproute2 util-linux uidmap fakeroot
  openssh-client debian-archive-keyring redis-tools iperf3"
if [ "$purpose" = test ]; then
  packages="$packages chromium libatomic1"
fi

say() { printf 'setup: %s\n' "$*" >&2; }
stop() { say "$*"; exit 4; }

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    stop "Root is needed for: $*. Run it as root, then try again."
  fi
}

installed() { dpkg-query -W -f='${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed; }

# The first of these that is new enough and can make environments.
find_python() {
  for candidate in python3 python3.14 python3.13 python3.12 python3.11 /usr/bin/python3; do
    if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' \
      2>/dev/null; then
      command -v "$candidate"
      return
    fi
  done
  return 1
}

# QEMU 7.2 of Debian 12 corrupts guests under multi-threaded TCG; backports has a good one.
needs_backported_qemu() {
  [ "$ID" = debian ] && [ "$VERSION_ID" = 12 ] || return 1
  version=$(dpkg-query -W -f='${Version}' qemu-system-x86 2>/dev/null || true)
  [ -z "$version" ] || dpkg --compare-versions "$version" lt 1:8.0
}

add_backports() {
  if apt-get indextargets --format '$(CODENAME)' 'Created-By: Packages' |
    grep -qx bookworm-backports; then
    return
  fi
  archive=$(apt-get indextargets --format '$(CODENAME) $(REPO_URI)' 'Created-By: Packages' |
    sed -n 's/^bookworm //p' | head -n 1)
  [ -n "$archive" ] || stop "No Debian archive is configured in apt, so bookworm-backports" \
    "cannot be derived from it. Add bookworm-backports to apt's sources, then try again."
  target=/etc/apt/sources.list.d/cvmbench-backports.sources
  say "adding bookworm-backports of $archive for QEMU ($target)"
  printf 'Types: deb\nURIs: %s\nSuites: bookworm-backports\nComponents: main\nSigned-By: %s\n' \
    "$archive" /usr/share/keyrings/debian-archive-keyring.gpg | as_root tee "$target" >/dev/null
}

install_packages() {
  missing=
  for package in $packages; do
    installed "$package" || missing="$missing $package"
  done
  find_python >/dev/null || missing="$missing python3 python3-venv"
  backported=
  if needs_backported_qemu; then
    add_backports
    backported="qemu-system-x86 qemu-utils"
    missing=$(printf '%s\n' $missing | grep -vx -e qemu-system-x86 -e qemu-utils || true)
  fi
  [ -n "$missing$backported" ] || return 0
  export DEBIAN_FRONTEND=noninteractive
  as_root apt-get -q update >&2 || say "apt-get update had problems; going on with what it has"
  if [ -n "$backported" ]; then
    say "installing from bookworm-backports: $backported"
    as_root apt-get -qy install --no-install-recommends -t bookworm-backports $backported >&2
  fi
  if [ -n "$missing" ]; then
    say "installing:" $missing
    as_root apt-get -qy install --no-install-recommends $missing >&2
  fi
}

# The environment is made anew whenever the lock or the interpreter changed.
install_environment() {
  python=$(find_python) || stop "Python 3.11 or newer is needed; none was found."
  mark=$(cat "$root/requirements/locked.txt" "$root/pyproject.toml" | sha256sum | cut -c1-64)
  mark="$mark $("$python" -c 'import sys; print(sys.version)' | tr '\n' ' ') $root"
  [ "$(cat "$root/.venv/.setup" 2>/dev/null)" != "$mark" ] || return 0
  say "making the Python environment in .venv"
  "$python" -m venv --clear "$root/.venv"
  pip="$root/.venv/bin/python -m pip --disable-pip-version-check"
  $pip install -q --require-hashes --only-binary :all: -r "$root/requirements/locked.txt" >&2
  $pip install -q --no-deps --no-build-isolation --no-index -e "$root" >&2
  printf '%s\n' "$mark" >"$root/.venv/.setup"
}

ID= VERSION_ID=
[ ! -r /etc/os-release ] || . /etc/os-release
case "$ID" in
debian | ubuntu) install_packages ;;
*)
  say "This is not Debian or Ubuntu, so nothing was installed. What is needed, by Debian's names:"
  stop $packages "python3 (3.11 or newer, with venv)"
  ;;
esac
install_environment
