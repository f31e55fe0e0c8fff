# What happens on the fresh machine; see prove.sh.
set -euo pipefail

fail() {
    echo "FAILED: $*" >&2
    tail -n 40 .tools/log/*.log 2>/dev/null || true
    exit 1
}

echo "== nothing is here"
if python3 -c 'import ensurepip' 2>/dev/null; then fail "venv is installed"; fi
if python3 -m pip --version >/dev/null 2>&1; then fail "pip is installed"; fi
for program in curl node docker sudo uv pip gcc; do
    if command -v "$program" >/dev/null; then fail "$program is installed"; fi
done
if [ -e /etc/ssl/certs/ca-certificates.crt ]; then fail "ca-certificates is installed"; fi

cd /root/carrel

echo "== without a terminal and without --yes: exit code 2, and it says what is missing"
code=0
./carrel up || code=$?
[ "$code" = 2 ] || fail "exit code $code instead of 2"

echo "== ./carrel up --yes --detach"
began=$(date +%s)
./carrel up --yes --detach 2>&1 | tee /root/up.log
first=$(($(date +%s) - began))
echo "== ready after $first s"

address=$(grep -oE 'https?://[^ ]+' /root/up.log | head -1)
echo "== the page answers at $address"
python3 - "$address" <<'PY'
import sys, urllib.request
page = urllib.request.urlopen(sys.argv[1], timeout=10).read().decode()
assert "<title>" in page and "script" in page, page[:500]
health = urllib.request.urlopen(sys.argv[1].rstrip("/") + "/api/v1/health", timeout=10).read().decode()
assert '"ok"' in health, health
PY

./carrel status

echo "== a session runs"
email=$(sed -nE 's/^ *e-mail +([^ ]+)$/\1/p' /root/up.log)
file=$(sed -nE 's/^ *password .* in ([^ ]+)$/\1/p' /root/up.log)
grep -qF "$(cat "$file")" /root/up.log && fail "the password is in the output, which no terminal shows"
./carrel login "$address" --email "$email" --password-stdin < "$file"
began=$(date +%s%N)
./carrel session create --image starter --cpu 1 --mem 1g --name first --wait
echo "== RUNNING after $((($(date +%s%N) - began) / 1000000)) ms"
answer=$(./carrel session exec first -- python -c 'import sys; print(sys.prefix, 6 * 7)')
[ "$answer" = "/opt/venv 42" ] || fail "exec answered: $answer"
./carrel session exec first -- pip install -q tqdm || fail "pip inside the session"
answer=$(./carrel session exec first -- git ls-remote https://pypi.org/none 2>&1 || true)
[[ $answer == *"not found"* ]] || fail "git over https inside the session answered: $answer"
./carrel app open first jupyter --print-url || fail "no address of JupyterLab"

echo "== stopped and started again, three times: under five seconds at best, and the session still runs"
again=999999
for turn in 1 2 3; do
    ./carrel down
    began=$(date +%s%N)
    ./carrel up --yes --detach > /root/again.log 2>&1 || fail "start again: $(cat /root/again.log)"
    took=$((($(date +%s%N) - began) / 1000000))
    echo "== start $turn: ready after $took ms (load $(cut -d' ' -f1 /proc/loadavg))"
    if [ "$took" -lt "$again" ]; then again=$took; fi
done
./carrel session exec first -- true || fail "the session did not outlive the control plane"
./carrel session rm first --yes --wait
./carrel down

echo "== first start $first s, later starts $again ms at best (load $(cut -d' ' -f1 /proc/loadavg))"
# Last, so that a busy machine keeps nothing else from being looked at.
[ "$first" -lt 600 ] || fail "the first start took $first s"
[ "$again" -lt 5000 ] || fail "starting again took $again ms"
echo "PROVED"
