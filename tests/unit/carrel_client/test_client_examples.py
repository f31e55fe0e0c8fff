"""Command lines shown to people are of the grammar: examples of --help, hints, inline code of documents, the page."""

import ast
import io
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from carrel_client.cli.commands import COMMANDS, GROUPS, OPERATOR
from carrel_client.cli.context import Context
from carrel_client.cli.kinds import add_options, option_name
from carrel_client.cli.parser import arguments_of

from carrel import plugins
from carrel.plugins import Port

ROOT = Path(__file__).parents[3]
SHELL = frozenset({"|", "||", "&&", ";", ">", ">>", "<", "2>", "&", "(", ")"})
_NAMED = re.compile(r"(?<![\w/.-])carrel ((?:[a-z][a-z-]+)(?: [a-z][a-z-]+)?)")


def kinds(port: Port) -> SimpleNamespace:
    """What the server lists of the kinds of a port."""
    items = [{"kind": kind, "settings": plugin.schema()} for kind, plugin in plugins.kinds(port).items()]
    return SimpleNamespace(list=lambda: {"items": items})


SERVER = SimpleNamespace(
    client=SimpleNamespace(
        engine_kinds=kinds(Port.ENGINE),
        engines=SimpleNamespace(show=lambda name: {"kind": "docker"}),
        provider_kinds=kinds(Port.IDENTITY),
        providers=SimpleNamespace(show=lambda name: {"kind": "oidc"}),
        storage_host_kinds=kinds(Port.STORAGE),
    )
)
"""Has what examples of commands ask for that take the settings of a kind as options."""
SETTINGS = {
    option_name(setting)
    for port in Port
    for plugin in plugins.kinds(port).values()
    for setting in plugin.settings.model_fields
}


def invocations(line: str) -> Iterator[list[str]]:
    """The words behind each `carrel` of a line of shell."""
    line = re.sub(r"\w+=\$\((.*?)\)", r"\1 ;", line)
    line = line.replace("$(cat head.txt)", "1:" + "0" * 64)
    line = re.sub(r"xargs (carrel .*)", r"\1 from-xargs", line)
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>()")
    lexer.whitespace_split = True
    words: list[str] | None = None
    first = True
    for token in [*lexer, ";"]:
        if token in SHELL or set(token) <= set("|&;<>()"):
            if words is not None:
                yield words
            words, first = None, True
        elif words is not None:
            words.append(token)
        elif first and token in ("carrel", "./carrel"):
            words = []
        else:
            first = first and "=" in token  # variables may stand in front of a command


@pytest.mark.parametrize("words", COMMANDS)
def test_examples_of_the_help_are_of_the_grammar(words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("a secret\n"))
    parser, _ = arguments_of(COMMANDS[words])
    for example in parser.examples:
        commands = list(invocations(example))
        assert commands, example
        for given in commands:
            name = " ".join(given[:2]) if " ".join(given[:2]) in COMMANDS else given[0]
            assert name in COMMANDS or name in OPERATOR, example
            if name in COMMANDS:
                parser, rest = arguments_of(COMMANDS[name])[0], given[len(name.split()) :]
                if parser.kind_of:
                    add_options(parser, rest, cast(Context, SERVER))
                if "--help" not in rest:
                    parser.read(rest)


def known(name: str) -> bool:
    """Whether this begins with a command. An operator's or a group's first word is enough."""
    first, *rest = name.split()
    return name in COMMANDS or first in COMMANDS or first in OPERATOR or (first in GROUPS and not rest)


def texts(file: Path) -> Iterator[str]:
    """The string constants of a Python file, or the inline code of a document."""
    if file.suffix == ".md":
        outside = re.sub(r"^```.*?^```", "", file.read_text(), flags=re.MULTILINE | re.DOTALL)
        yield from re.findall(r"`([^`]+)`", outside)
        return
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


SOURCES = [
    *(ROOT / "src/carrel").rglob("*.py"),
    *(ROOT / "clients/python/src").rglob("*.py"),
    *(ROOT / "docs").rglob("*.md"),
    ROOT / "README.md",
]


def test_commands_that_hints_and_documents_name_are_there() -> None:
    wrong = {
        f"{file.relative_to(ROOT)}: carrel {name}"
        for file in SOURCES
        for text in texts(file)
        for name in _NAMED.findall(text)
        if text.startswith(("carrel ", "./carrel ")) or "`carrel " in text or ": carrel " in text
        if not known(name)
    }
    assert not wrong


def test_commands_that_the_page_shows_are_of_the_grammar() -> None:
    shown = re.compile(
        r'commandLine\(\s*"carrel",\s*"([a-z-]+)"(?:,\s*"([a-z][a-z-]*)")?([^;]*?)\)', re.DOTALL
    )
    seen = 0
    for file in (ROOT / "web/src").rglob("*.ts*"):
        if ".test." in file.name:
            continue
        for first, second, rest in shown.findall(file.read_text()):
            seen += 1
            name = f"{first} {second}" if f"{first} {second}" in COMMANDS else first
            if first in GROUPS and not second:
                continue  # which command of the group it is depends on what is done
            assert name in COMMANDS or name in OPERATOR, f"{file.name}: carrel {first} {second}"
            if name in COMMANDS:
                parser, _ = arguments_of(COMMANDS[name])
                options = {option for action in parser._actions for option in action.option_strings}
                options |= SETTINGS if parser.kind_of else set()
                assert set(re.findall(r'"(--[a-z][a-z-]*)"', rest)) <= options, (
                    f"{file.name}: carrel {name} {rest}"
                )
    assert seen > 20
