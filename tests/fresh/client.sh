#!/usr/bin/env bash
# Proves that the client alone installs into an empty environment: as a wheel by pip, and as a tool by uv. Needs a
# checkout in which ./carrel up or ./carrel test ran once, and a package index; no server and no container engine.
#
#   tests/fresh/client.sh
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d "${TMPDIR:-/var/tmp}/carrel-client-XXXXXX")
trap 'rm -rf "$work"' EXIT

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# $1: the command. It answers help and versions, imports its SDK, and says that the server is not here.
works() {
    "$1" --version | grep '^carrel [0-9]' > /dev/null || fail "$1 --version"
    "$1" session ls --help | grep -- --watch > /dev/null || fail "$1 --help"
    code=0
    "$1" up > "$work/up.log" 2>&1 || code=$?
    [ "$code" = 2 ] || fail "$1 up without a server ended with $code"
    grep -q 'hint: ' "$work/up.log" || fail "$1 up says nothing of what to do"
}

echo "== a wheel, by pip"
"$root/.venv/bin/python" -m build --wheel --outdir "$work/dist" "$root/clients/python" > "$work/build.log" 2>&1 || {
    tail -n 20 "$work/build.log"
    fail "the wheel was not built"
}
"$root/.venv/bin/python" -m venv "$work/env"
"$work/env/bin/pip" install -q --disable-pip-version-check "$work"/dist/carrel_compute_client-*.whl
"$work/env/bin/python" -c 'from carrel_client import Carrel; import carrel_client.cli.formats, yaml'
works "$work/env/bin/carrel"

echo "== a tool, by uv"
uv=$(command -v uv || find "$root/.tools" -name uv -type f | head -n 1)
UV_TOOL_DIR=$work/tools UV_TOOL_BIN_DIR=$work/bin "$uv" tool install --quiet --python "$root/.venv/bin/python" "$root/clients/python"
works "$work/bin/carrel"
echo "PROVED"
