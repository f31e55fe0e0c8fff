download "$url" "$stage/archive"
unpack "$stage/archive" "$content"
