#!/usr/bin/env bash
# Proves that `python -m build` gives a wheel with which an empty virtual environment runs Carrel: the page answers
# and a session runs. Needs a checkout in which ./carrel up or ./carrel test ran once (the page is built by them),
# and a container engine; takes a minute. Uses the working tree as it is.
#
#   tests/fresh/wheel.sh [PORT]
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
port=${1:-28790}
work=$(mktemp -d "${TMPDIR:-/var/tmp}/carrel-wheel-XXXXXX")
chmod 755 "$work" # the embedded database has a user of its own, who must get to its files
carrel=$work/env/bin/carrel
export CARREL_INSTALLATION=wheel$$ CARREL_APP_LAYER=false CARREL_DATA_DIR=$work/data

fail() {
    echo "FAILED: $*" >&2
    exit 1
}
clean_up() {
    "$carrel" session rm wheel --yes --force --wait >/dev/null 2>&1 || true
    "$carrel" down >/dev/null 2>&1 || true
    "$work/env/bin/python" - <<'PY' || true
import asyncio, os
from carrel.engines.docker import DockerEngine

async def purge() -> None:
    engine = DockerEngine(os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock"), os.environ["CARREL_INSTALLATION"])
    await engine.purge()
    await engine.close()

asyncio.run(purge())
PY
    rm -rf "$work"
}
trap clean_up EXIT

echo "== building"
"$root/.venv/bin/python" -m build --outdir "$work/dist" "$root" > "$work/build.log" 2>&1 || {
    tail -n 20 "$work/build.log"
    fail "the wheel was not built"
}
wheel=$(echo "$work"/dist/*.whl)
for name in carrel/web_dist/index.html carrel/server/bootstrap/recipes/starter/Dockerfile carrel/server/bootstrap/recipes/app-layer/bin/tmux carrel_client/cli/main.py; do
    python3 -m zipfile -l "$wheel" | grep "^$name " > /dev/null || fail "the wheel lacks $name"
done

echo "== installing into an empty environment"
"$root/.venv/bin/python" -m venv "$work/env"
"$work/env/bin/pip" install -q --disable-pip-version-check "$wheel"
recipe='from carrel.server.bootstrap.recipes import read_recipe as read; print([sorted(read(name).items()) for name in ("starter", "app-layer")])'
[ "$("$work/env/bin/python" -c "$recipe")" = "$("$root/.venv/bin/python" -c "$recipe")" ] ||
    fail "the wheel's recipe is not the checkout's: it would make another image"

cd /
began=$(date +%s)
"$carrel" up --yes --detach --port "$port"
echo "== ready after $(($(date +%s) - began)) s"
"$work/env/bin/python" - "$port" <<'PY'
import sys, urllib.request
page = urllib.request.urlopen(f"http://localhost:{sys.argv[1]}/", timeout=10).read().decode()
assert "<title>" in page and "/assets/" in page, page[:500]
PY
export HOME=$work XDG_CONFIG_HOME=$work/config
"$carrel" login "http://localhost:$port" --email admin@carrel.local --password-stdin < "$work/data/admin-password"
"$carrel" session create --image starter --cpu 0.5 --mem 512m --name wheel --wait
[ "$("$carrel" session exec wheel -- python -c 'print(6 * 7)')" = 42 ] || fail "exec"
"$carrel" session rm wheel --yes --wait
"$carrel" down
echo "PROVED"
