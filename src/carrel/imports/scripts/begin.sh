set -eu
umask 022

say() { printf '%s\n' "$*"; }
fail() { printf '%s\n' "$*" >&2; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

token=${CARREL_IMPORT_TOKEN:-}
key=${CARREL_IMPORT_KEY:-}
unset CARREL_IMPORT_TOKEN CARREL_IMPORT_KEY

[ -d "$root" ] || fail "There is no directory $root: is the folder mounted there?"
[ -w "$root" ] || fail "The directory $root cannot be written."
# What is secret is kept out of $root, which others may read.
private=$(umask 077; mktemp -d)
stage=$(mktemp -d "$root/.import-XXXXXX")
trap 'rm -rf "$private" "$stage"' EXIT
trap 'exit 130' INT TERM HUP
content=$stage/content

# download ADDRESS FILE
download() {
    say "Downloading $1"
    if have curl; then
        {
            case $token in
            '') ;;
            *:*) printf 'user = "%s"\n' "$token" ;;
            *) printf 'oauth2-bearer = "%s"\n' "$token" ;;
            esac
        } | curl -fsSL --connect-timeout 30 --retry 3 --proto =http,https --proto-redir =http,https -K - -o "$2" -- "$1"
    elif have python3; then
        TOKEN=$token python3 - "$1" "$2" <<'PYTHON'
import base64, os, shutil, sys, urllib.request

request = urllib.request.Request(sys.argv[1])
if token := os.environ["TOKEN"]:
    basic = "Basic " + base64.b64encode(token.encode()).decode()
    request.add_unredirected_header("Authorization", basic if ":" in token else "Bearer " + token)
try:
    with urllib.request.urlopen(request) as answer, open(sys.argv[2], "wb") as file:
        shutil.copyfileobj(answer, file)
except OSError as error:
    sys.exit(f"It cannot be downloaded: {error}")
PYTHON
    elif have wget; then
        [ -z "$token" ] || fail "A private source needs curl or python3 in the image, which has only wget."
        wget -q -O "$2" -- "$1"
    else
        fail "The image has none of curl, python3 and wget. Choose one that has, such as starter."
    fi || fail "The source cannot be downloaded. Is the address right, and does the network permit it?"
}

# unpack ARCHIVE DIRECTORY: if all of it is in one directory, the content of that
unpack() {
    mkdir "$stage/unpacked"
    if [ "$(head -c 2 "$1")" = PK ]; then
        if have unzip; then unzip -q "$1" -d "$stage/unpacked"
        elif have python3; then python3 -m zipfile -e "$1" "$stage/unpacked"
        else fail "The image has neither unzip nor python3. Choose one that has, such as starter."
        fi
    elif have tar; then tar -xf "$1" -C "$stage/unpacked"
    elif have python3; then python3 -m tarfile -e "$1" "$stage/unpacked"
    else fail "The image has neither tar nor python3. Choose one that has, such as starter."
    fi || fail "The archive cannot be unpacked: is it damaged, or a web page?"
    only=$(ls -A "$stage/unpacked")
    if [ -d "$stage/unpacked/$only" ] && [ ! -L "$stage/unpacked/$only" ] && [ -n "$only" ]
    then mv "$stage/unpacked/$only" "$2"
    else mv "$stage/unpacked" "$2"
    fi
}
