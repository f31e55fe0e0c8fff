"""What addresses point to, and which are refused; the script as text."""

import shlex

import pytest

from carrel.core.errors import Invalid
from carrel.imports.fetching import Steps, script
from carrel.imports.sources import SourceKind, by_ssh, permitted, read

GIT, HUB = SourceKind.GIT, "https://huggingface.co"


@pytest.mark.parametrize(
    ("url", "kind", "opened", "name", "ref", "path"),
    [
        ("https://github.com/acme/work", GIT, "https://github.com/acme/work.git", "work", "", ""),
        ("github.com/acme/work/?tab=readme", GIT, "https://github.com/acme/work.git", "work", "", ""),
        ("https://www.github.com/acme/work.git#a", GIT, "https://github.com/acme/work.git", "work", "", ""),
        (
            "https://github.com/acme/work/blob/main/a%20b/n.ipynb",
            GIT,
            "https://github.com/acme/work.git",
            "work",
            "main",
            "a b/n.ipynb",
        ),
        ("https://host.org/a b/c.git", GIT, "https://host.org/a%20b/c.git", "c", "", ""),
        ("https://github.com/acme/w/tree/v1/src", GIT, "https://github.com/acme/w.git", "w", "v1", "src"),
        ("git@github.com:acme/work.git", GIT, "ssh://git@github.com/acme/work.git", "work", "", ""),
        ("ssh://git@host.org:2222/a/b.git", GIT, "ssh://git@host.org:2222/a/b.git", "b", "", ""),
        (
            "https://gist.github.com/ada/0123456789abcdef",
            GIT,
            "https://gist.github.com/0123456789abcdef.git",
            "gist-0123456789ab",
            "",
            "",
        ),
        (
            "https://colab.research.google.com/github/a/b/blob/main/n.ipynb",
            GIT,
            "https://github.com/a/b.git",
            "b",
            "main",
            "n.ipynb",
        ),
        (
            "https://gitlab.com/g/s/r/-/blob/main/n.ipynb",
            GIT,
            "https://gitlab.com/g/s/r.git",
            "r",
            "main",
            "n.ipynb",
        ),
        ("https://git.acme.org/g/r/-/tree/dev", GIT, "https://git.acme.org/g/r.git", "r", "dev", ""),
        (
            "https://codeberg.org/a/b/src/branch/main/n.ipynb",
            GIT,
            "https://codeberg.org/a/b.git",
            "b",
            "main",
            "n.ipynb",
        ),
        ("https://bitbucket.org/a/b/src/main/x", GIT, "https://bitbucket.org/a/b.git", "b", "main", "x"),
        ("https://host.org/~ada/repo", GIT, "https://host.org/~ada/repo", "repo", "", ""),
        (
            "https://host.org/x/My%20Notes.ipynb?k=1",
            SourceKind.NOTEBOOK,
            "https://host.org/x/My%20Notes.ipynb?k=1",
            "My-Notes.ipynb",
            "",
            "",
        ),
        (
            "https://raw.githubusercontent.com/a/b/main/n.ipynb",
            SourceKind.NOTEBOOK,
            "https://raw.githubusercontent.com/a/b/main/n.ipynb",
            "n.ipynb",
            "",
            "",
        ),
        ("https://host.org/data.tar.gz", SourceKind.ARCHIVE, "https://host.org/data.tar.gz", "data", "", ""),
        (
            "https://github.com/a/b/archive/refs/tags/v1.zip",
            SourceKind.ARCHIVE,
            "https://github.com/a/b/archive/refs/tags/v1.zip",
            "b",
            "",
            "",
        ),
        (
            "https://gitlab.com/g/r/-/archive/main/r.zip",
            SourceKind.ARCHIVE,
            "https://gitlab.com/g/r/-/archive/main/r.zip",
            "r",
            "",
            "",
        ),
        ("hf.co/gpt2", SourceKind.MODEL, HUB, "gpt2", "", ""),
        (
            "https://huggingface.co/acme/m/blob/main/config.json",
            SourceKind.MODEL,
            HUB,
            "m",
            "main",
            "config.json",
        ),
        (
            "https://huggingface.co/datasets/acme/d/tree/refs/pr/1/x",
            SourceKind.DATASET,
            HUB,
            "d",
            "refs/pr/1",
            "x",
        ),
        ("https://huggingface.co/spaces/acme/s", SourceKind.SPACE, HUB, "s", "", ""),
    ],
)
def test_addresses_are_recognized(
    url: str, kind: SourceKind, opened: str, name: str, ref: str, path: str
) -> None:
    source = read(url)
    assert (source.kind, source.url, source.name, source.ref, source.path) == (kind, opened, name, ref, path)


def test_what_is_given_takes_precedence_over_the_address() -> None:
    branch = read("https://github.com/a/b/blob/feature/x/n.ipynb", ref="feature/x")
    assert (branch.ref, branch.path) == ("feature/x", "n.ipynb")
    other = read("https://github.com/a/b/tree/main/src", ref="v2", path="docs")
    assert (other.ref, other.path) == ("v2", "docs")
    assert read("https://host.org/a/b.ipynb", ref="v2").ref == ""
    mirror = read("http://hub.acme.org:8000/datasets/a/b", kind=SourceKind.DATASET)
    assert (mirror.url, mirror.repository) == ("http://hub.acme.org:8000", "a/b")
    alone = read("https://github.com/a/b/blob/main/n.ipynb", kind=SourceKind.NOTEBOOK)
    assert alone.url == "https://github.com/a/b/raw/main/n.ipynb"
    assert read(f"https://{'a' * 63}.org/a/b").host == f"{'a' * 63}.org"
    assert by_ssh(read("https://host.org:8443/a/b.git")).url == "ssh://git@host.org/a/b.git"


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("", "bad_url"),
        ("acme/work", "bad_url"),
        ("https://github.com/acme", "bad_url"),
        ("https://host.org/", "bad_url"),
        ("file:///etc/passwd", "bad_url"),
        ("ext::sh -c id", "bad_url"),
        ("ext::sh%20-c%20id", "bad_url"),
        ("git://host.org/a/b", "bad_url"),
        ("https://host.org/a/b\n--upload-pack=id", "bad_url"),
        ("https://ho st.org/a/b", "bad_url"),
        ("https://host.org/a\\b", "bad_url"),
        ("https://-host.org/a/b", "bad_url"),
        ("ssh://-oProxyCommand=id/a/b", "bad_url"),
        ("https://host..org/a/b", "bad_url"),
        ("git@host..org:a/b", "bad_url"),
        ("https://host-.org/a/b", "bad_url"),
        (f"https://{'a' * 64}.org/a/b", "bad_url"),
        (f"https://{'a.' * 126}org/a/b", "bad_url"),
        ("ssh://-oProxyCommand=id@host.org/a", "bad_url"),
        ("https://ho$(id)st.org/a/b", "bad_url"),
        ("https://host.org/a/../b/c", "bad_url"),
        ("https://github.com/acme/%2e%2e/evil/x", "bad_url"),
        ("https://host.org:99999/a/b", "bad_url"),
        ("https://host.org/" + "a" * 2000, "bad_url"),
        ("https://ada:secret@host.org/a/b", "credentials_in_url"),
        ("https://token@github.com/a/b", "credentials_in_url"),
        ("ssh://git:secret@host.org/a/b", "credentials_in_url"),
        ("http://localhost:8000/a.ipynb", "not_reachable"),
        ("http://127.0.0.1/a.ipynb", "not_reachable"),
        ("http://[::1]/a.ipynb", "not_reachable"),
        ("http://a.localhost./a.ipynb", "not_reachable"),
    ],
)
def test_addresses_are_refused_with_a_reason(url: str, code: str) -> None:
    with pytest.raises(Invalid) as refused:
        read(url)
    assert refused.value.code == f"import.{code}"


@pytest.mark.parametrize(
    "ref", ["--upload-pack=id", "a b", "a..b", "@{1}", "a\n", "a:b", "/a", "a/", "a.lock", "a^", "x" * 256]
)
def test_refs_that_git_does_not_know_are_refused(ref: str) -> None:
    with pytest.raises(Invalid, match="branch"):
        read("https://host.org/a/b.git", ref=ref)


@pytest.mark.parametrize("path", ["..", "a/../b", "a//b", "a\nb", "./a", "x" * 1025])
def test_paths_out_of_the_source_are_refused(path: str) -> None:
    with pytest.raises(Invalid, match="path"):
        read("https://host.org/a/b.git", path=path)


@pytest.mark.parametrize(
    ("place", "rule", "permits"),
    [
        ("github.com/acme/work", "github.com", True),
        ("github.com/acme/work", "github.com/acme", True),
        ("github.com/acme/work", "github.com/acme/", True),
        ("github.com/acme/work", "github.com/acme/work", True),
        ("github.com/acme-evil/work", "github.com/acme", False),
        ("github.com.evil.org/acme/work", "github.com", False),
        ("evilgithub.com/acme/work", "github.com", False),
        ("git.acme.org/a/b", "*.acme.org", True),
        ("acme.org/a/b", "*.acme.org", False),
        ("evilacme.org/a/b", "*.acme.org", False),
        ("git.acme.org:8443/a/b", "git.acme.org", True),
        ("git.acme.org:8443/a/b", "git.acme.org:8443", True),
        ("git.acme.org:1/a/b", "git.acme.org:8443", False),
    ],
)
def test_rules_permit_hosts_and_what_is_below_a_path(place: str, rule: str, permits: bool) -> None:
    assert permitted(place, [rule]) is permits


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("https://raw.githubusercontent.com/acme/work/main/n.ipynb", "github.com/acme/work/main/n.ipynb"),
        ("https://nbviewer.org/github/acme/work/blob/main/n.ipynb", "github.com/acme/work"),
        ("git@github.com:acme/work.git", "github.com/acme/work"),
        ("HTTPS://GitHub.COM./acme/work", "github.com/acme/work"),
        ("https://hf.co/datasets/acme/d", "huggingface.co/datasets/acme/d"),
    ],
)
def test_rules_are_about_where_a_source_is_whatever_way_leads_there(url: str, place: str) -> None:
    assert read(url).place == place


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("https://git.acme.org:8443/a/b.git", "git.acme.org/a/b"),
        ("https://git.acme.org/a:80/b.git", "git.acme.org/a:80/b"),
        ("https://[fd00::1]:8443/a/b.git", "[fd00::1]/a/b"),
        ("https://www.github.com/acme/work", "github.com/acme/work"),
    ],
)
def test_a_key_opens_another_port_than_that_of_the_address(url: str, place: str) -> None:
    assert by_ssh(read(url, kind=SourceKind.GIT)).place == place


def test_texts_of_the_request_are_only_in_quoted_assignments() -> None:
    hostile = "a'b\"c$(touch${IFS}x)`id`;|&"
    source = read(f"https://host.org/{hostile}/r.git", ref="$(touch${IFS}z)'", path=f"{hostile} /n")
    lines = script(source, Steps(root=f"/home/work/{hostile} '")).splitlines()
    assert lines[0] == "#!/bin/sh"
    body = lines.index("set -eu")
    words = shlex.split("\n".join(lines[1:body]))
    assert dict(word.split("=", 1) for word in words)["root"] == f"/home/work/{hostile} '"
    assert all(hostile[:3] not in line and "touch" not in line for line in lines[body:])
    assert (
        lines[body:] == script(read("https://host.org/r/r.git"), Steps()).splitlines()[-len(lines[body:]) :]
    )
