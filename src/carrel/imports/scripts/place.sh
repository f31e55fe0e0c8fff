stem=$name
suffix=
case $name in *.ipynb) stem=${name%.ipynb} suffix=.ipynb ;; esac
target=$root/$name
number=2
while [ -e "$target" ] || [ -L "$target" ]; do
    target=$root/$stem-$number$suffix
    number=$((number + 1))
done
mv "$content" "$target"
say "Fetched to $target"
if [ -n "$path" ] && [ ! -e "$target/$path" ]; then
    say "There is nothing at $path in it."
fi
