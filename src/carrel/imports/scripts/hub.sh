have python3 || fail "The image has no python3, which fetches from a hub. Choose one that has, such as starter."
cat >"$private/hub.py" <<'PYTHON'
@hub.py@
PYTHON
mkdir "$content"
TOKEN=$token python3 -u "$private/hub.py" "$url" "$kind" "$repository" "${ref:-main}" "$path" "$content"
