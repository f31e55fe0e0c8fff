"""Rules of a .dockerignore, as Docker reads them."""

import pytest
from carrel_client.ignored import is_ignored


@pytest.mark.parametrize(
    ("rules", "left_out", "sent"),
    [
        ("*.md", ["a.md"], ["docs/a.md", "a.mdx"]),
        ("**/*.md", ["a.md", "docs/a.md", "docs/x/a.md"], ["a.txt"]),
        ("./data", ["data", "data/x/1"], ["sub/data", "data2"]),
        ("/data/", ["data", "data/x/1"], ["sub/data"]),
        ("data/*/tmp", ["data/x/tmp", "data/x/tmp/1"], ["data/tmp", "data/x/y/tmp"]),
        ("data/**/tmp", ["data/tmp", "data/x/y/tmp/1"], ["tmp", "data/x"]),
        ("data/**", ["data/x", "data/x/1"], ["data"]),
        ("**", ["a", "a/b"], []),
        ("a/../b", ["b"], ["a"]),
        ("?.[ch]\n[^a-y].py", ["x.c", "z.py"], ["x.o", "a.py", "xy.c"]),
        (r"\*.md", ["*.md"], ["a.md"]),
        ("*.md\n!README.md", ["a.md"], ["README.md"]),
        ("docs\n!docs/a.md", ["docs/b.md"], ["docs/a.md"]),
        ("[\n.\n/", [], ["a", "a/b"]),
    ],
)
def test_a_rule_is_of_a_path_and_what_is_below_it(rules: str, left_out: list[str], sent: list[str]) -> None:
    names = [*left_out, *sent]
    assert [name for name in names if is_ignored(name, rules.splitlines())] == left_out
