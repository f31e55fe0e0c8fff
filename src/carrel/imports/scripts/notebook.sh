download "$url" "$content"
grep -q '"cells"' "$content" || grep -q '"worksheets"' "$content" ||
    fail "The file is no notebook: is it a web page, or private?"
