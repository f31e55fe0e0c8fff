export GIT_TERMINAL_PROMPT=0 GIT_ALLOW_PROTOCOL=https:http:ssh

if [ -n "$token" ]; then
    # Git asks this program, which answers for this host alone.
    printf '%s' "$token" >"$private/token"
    cat >"$private/ask" <<'ASK'
#!/bin/sh
# Such as: Password for 'https://name@host':
at=${1#*://}
at=${at%[\"\']*}
at=${at%%/*}
[ "${at##*@}" = "$ASK_HOST" ] || exit 1
token=$(cat "$ASK_TOKEN")
case $1 in
Username*) case $token in *:*) echo "${token%%:*}" ;; *) echo oauth2 ;; esac ;;
*) echo "${token#*:}" ;;
esac
ASK
    chmod 700 "$private/ask"
    export GIT_ASKPASS="$private/ask" ASK_HOST="$netloc" ASK_TOKEN="$private/token"
fi
if [ -n "$key" ]; then
    (umask 077; printf '%s\n' "$key" >"$private/key")
    export GIT_SSH_COMMAND="ssh -F /dev/null -i $private/key -o IdentitiesOnly=yes -o IdentityAgent=none"
else
    export GIT_SSH_COMMAND="ssh -F /dev/null"
fi
GIT_SSH_COMMAND="$GIT_SSH_COMMAND -o BatchMode=yes -o StrictHostKeyChecking=accept-new -o UserKnownHostsFile=$private/hosts"

clone() {
    say "Cloning $url"
    if [ -z "$ref" ]; then
        git clone -q --depth 1 -- "$url" "$content"
    elif LC_ALL=C git clone -q --depth 1 --branch "$ref" -- "$url" "$content" 2>"$private/refused"; then
        :
    elif grep -q "Remote branch .* not found" "$private/refused"; then
        say "There is no branch or tag $ref; looking for a commit."
        git clone -q --no-checkout -- "$url" "$content" &&
            git -C "$content" -c advice.detachedHead=false checkout -q "$ref" --
    else
        cat "$private/refused" >&2
        return 1
    fi
}

if have git; then
    case $url in ssh:*) have ssh || fail "The image has no ssh. Choose one that has, such as starter." ;; esac
    clone || fail "The repository cannot be cloned. Is the address right, and the source public?"
    if [ -f "$content/.gitmodules" ]; then
        git -C "$content" submodule -q update --init --recursive --depth 1 ||
            say "Not all submodules could be fetched."
    fi
    if ! have git-lfs && grep -qs 'filter=lfs' "$content/.gitattributes"; then
        say "The image has no git-lfs: large files are only pointers."
    fi
elif [ -n "$archive" ] && [ -z "$token$key" ]; then
    say "The image has no git: fetching an archive instead."
    download "$archive" "$stage/archive"
    unpack "$stage/archive" "$content"
else
    fail "The image has no git. Choose one that has, such as starter."
fi
