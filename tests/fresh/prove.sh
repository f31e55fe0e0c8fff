#!/usr/bin/env bash
# Proves the first command on a machine with nothing but bash, git and Python: `./carrel up` ends within ten
# minutes with a running Carrel, a session works, a second start takes under five seconds, `down` stops it.
# Takes minutes and several GiB of disk; run it by hand. Needs root (see machine.sh). Uses what is committed.
#
#   tests/fresh/prove.sh [--keep]     --keep leaves the root behind for a look
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repository=$(git -C "$here" rev-parse --show-toplevel)
source "$here/machine.sh"

name=fresh$$
root=$(mktemp -d "${TMPDIR:-/var/tmp}/carrel-fresh-XXXXXX")
keep=${1:-}
clean_up() {
    disconnect_machine "$name"
    if [ "$keep" = --keep ]; then echo "the root is kept in $root"; else rm -rf --one-file-system "$root"; fi
}
trap clean_up EXIT

echo "== a Debian 12 holding bash, git and python3"
make_machine "$root" bash,git,python3
git clone -q --no-hardlinks "$repository" "$root/root/carrel"
cp "$here/inside.sh" "$root/root/inside.sh"
connect_machine "$name"
run_in_machine "$root" "$name" /root/inside.sh
