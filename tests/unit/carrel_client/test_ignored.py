"""Rules of a .dockerignore mean what they mean to Docker."""

import time

import pytest
from carrel_client.ignored import MOST_RULES, BadIgnoreFile, IgnoreRules


@pytest.mark.parametrize(
    ("text", "ignored", "kept"),
    [
        ("", (), ("a", "a/b")),
        ("*.md", ("a.md", ".md"), ("sub/a.md", "a.mdx", "a.txt")),
        ("**/*.md", ("a.md", "sub/a.md", "x/y/a.md", "a.md/below"), ("a.mdx",)),
        ("**.md", ("a.md", "sub/a.md"), ("a.txt",)),
        ("data", ("data", "data/x", "data/x/y"), ("sub/data", "data2", "adata")),
        ("./data", ("data/x",), ("sub/data",)),
        ("/data/", ("data", "data/x"), ("sub/data",)),
        ("//data//x/../y\n/../z", ("data/y", "z"), ("data/x",)),
        ("../data\n..", (), ("data", "a")),
        (".\n/\n..", (), ("a", "a/b")),
        ("*", ("a", "a/b", ".hidden"), (".dockerignore", "Dockerfile")),
        ("**", ("a", "a/b", "sub/Dockerfile"), (".dockerignore", "Dockerfile")),
        ("*/temp*", ("a/temp", "a/temporary.txt", "a/temp/x"), ("temp", "a/b/temp", "a/x.temp")),
        ("*/*/temp*", ("a/b/temp",), ("a/temp",)),
        ("temp?", ("tempa", "tempa/x"), ("temp", "tempab", "temp/x")),
        ("a/**", ("a/b", "a/b/c"), ("a", "ab/c")),
        ("a/**/b", ("a/b", "a/x/b", "a/x/y/b/z"), ("a/xb", "b", "x/a/b")),
        ("**/a/**/b/c", ("a/b/c", "x/a/b/y/b/c"), ("a/b/x/c", "b/c")),
        ("**/**/a", ("a", "x/a"), ("xa",)),
        ("**/a/**", ("a/b", "x/a/b", "a/a"), ("a", "x/a")),
        ("a*b*c", ("abc", "axbxbxc", "abcc"), ("ab", "acb", "a/b/c", "abx")),
        ("[a-c]x\n[^a-c]y", ("ax", "cx", "dy"), ("dx", "ay", "[a-c]x")),
        (r"[\]\-\\]", ("]", "-", "\\"), ("a",)),
        (r"\*" + "\n" + r"a\?" + "\n" + r"\!b", ("*", "a?", "!b"), ("x", "ab", "b")),
        ("a.b+(c)$", ("a.b+(c)$",), ("axb",)),
        ("# a\n#b\n  \n b \n\t#c", ("b", "#c"), ("a", "# a", "#b")),
        ("\ufeffa\r\nb\r\n", ("a", "b"), ("c",)),
        ("*\n!src", ("a", "b/src"), ("src", "src/a/b")),
        ("*.md\n!README*.md\nREADME-secret.md", ("a.md", "README-secret.md"), ("README.md", "READMEs.md")),
        ("*.md\nREADME-secret.md\n!README*.md", ("a.md",), ("README.md", "README-secret.md")),
        ("! a\na", ("a",), ("b",)),
        ("a\n! ./a/b/\na/b/c", ("a/x", "a/b/c", "a/b/c/d"), ("a/b", "a/b/d")),
        ("**\n!**/*.py", ("a", "x/b"), ("a.py", "x/y/b.py")),
        ("!.\na\n!./b/..", ("a",), ("b",)),
        ("line\x0bbreak\n[^a]b", ("line\x0bbreak", "\nb"), ("line", "break")),
    ],
)
def test_paths_are_left_out_as_by_docker(text: str, ignored: tuple[str, ...], kept: tuple[str, ...]) -> None:
    rules = IgnoreRules(text)
    assert [path for path in (*ignored, *kept) if rules.ignores(path)] == list(ignored)


@pytest.mark.parametrize(
    ("text", "pruned", "entered"),
    [
        ("data\n*.git", ("data", "data/sub", "x.git"), ("sub", "sub/data")),
        ("**/data", ("data", "sub/data"), ("sub",)),
        ("*\n!src/lib", ("data", "src/other", "src/other/lib"), ("src", "src/lib", "src/lib/x")),
        ("*\n!*.py", ("data", "data/x.py"), ("x.py",)),
        ("*\n!sub/**/*.py", ("data", "subs"), ("sub", "sub/x", "sub/x/y")),
        ("*\n!*/x", ("data/y", "data/y/x"), ("data", "data/x")),
        ("*\n!**/x", (), ("data", "data/y")),
        ("a\n!b", ("a", "a/b"), ("b", "c")),
    ],
)
def test_directories_are_entered_only_for_what_is_kept(
    text: str, pruned: tuple[str, ...], entered: tuple[str, ...]
) -> None:
    rules = IgnoreRules(text)
    assert [path for path in (*pruned, *entered) if rules.prunes(path)] == list(pruned)


@pytest.mark.parametrize("text", ["!", "a\n! /", "[", "a[", "[]a]", "[-a]", "[a-]", "[b-a]", "a\\", "x/[^]"])
def test_what_docker_does_not_read_is_refused(text: str) -> None:
    with pytest.raises(BadIgnoreFile):
        IgnoreRules(text)


def test_rules_are_bounded() -> None:
    IgnoreRules("a\n" * MOST_RULES)
    for text in ("a\n" * (MOST_RULES + 1), "#" * (1 << 20)):
        with pytest.raises(BadIgnoreFile):
            IgnoreRules(text)


def test_many_files_and_rules_take_no_time_that_a_person_notices() -> None:
    rules = IgnoreRules("\n".join(f"cache{number}/**/*.tmp" for number in range(MOST_RULES)))
    started = time.process_time()
    assert not any(rules.ignores(f"source/part{number}/file.py") for number in range(5000))
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    "rule", ["**/" + "*a" * 30 + "*b", "**/" + "a/**/" * 12 + "b", "**/" + "a*" * 20 + "/c"]
)
def test_no_rule_takes_exponential_time(rule: str) -> None:
    rules = IgnoreRules(rule)
    started = time.process_time()
    assert not rules.ignores("/".join(["a" * 250] * 16))
    assert not rules.ignores("a/" * 2000 + "x")
    assert time.process_time() - started < 1
