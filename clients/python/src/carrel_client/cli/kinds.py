"""Kinds of back ends on the command line: an option for each setting, made from the schema that the server has."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping

from carrel_client.cli.context import Context
from carrel_client.cli.output import Column, print_table
from carrel_client.cli.parser import Arguments, reading
from carrel_client.errors import CarrelError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_DEST = "setting "
"""In front of a setting's name where the arguments are kept, so that it is no other argument's."""


def kind_argument(parser: Arguments, dest: str) -> None:
    """KIND, the first argument, whose settings become options."""
    group = parser.prog.rpartition(" ")[0]
    parser.add_argument(
        dest, metavar="KIND", help=f"see {group} kinds; {parser.prog} KIND --help lists its options"
    )


def named(kinds: Iterable[Mapping[str, Any]], name: str) -> Mapping[str, Any]:
    """The kind of this name. Raises: CarrelError naming those that there are."""
    there = {kind["kind"]: kind for kind in kinds}
    if name not in there:
        raise CarrelError(
            "usage", f"There is no kind {name}.", status=422, hint=f"Use one of {', '.join(there)}."
        )
    return there[name]


def add_options(parser: Arguments, words: list[str], context: Context, *, always: bool = False) -> None:
    """Give the parser the options of the kind that the first of the words leads to.

    The server is asked only where an option is not known without it, or help is wanted; always: in any case.
    Raises: CarrelError.
    """
    assert parser.kind_of is not None
    options = {name: action for action in parser._actions for name in action.option_strings}
    first, unknown, helps = None, False, False
    rest = iter(words[: words.index("--")] if "--" in words else words)
    for word in rest:
        name, equals, _ = word.partition("=")
        helps = helps or name in ("-h", "--help")
        if name in options:
            if options[name].nargs != 0 and not equals:
                next(rest, None)
        elif word.startswith("-"):
            unknown = True
        elif not unknown:
            first = first or word
    if first is None and unknown and not helps:
        place = next(action.metavar for action in parser._actions if not action.option_strings)
        parser.error(f"options of a kind come after {place}")
    if first and (unknown or helps or always):
        kind = parser.kind_of(context, first)
        group = parser.add_argument_group(f"settings of the kind {kind['kind']}")
        for setting, schema in kind["settings"]["properties"].items():
            required = setting in kind["settings"]["required"]
            _add(parser, group, f"--{kind['kind']}-", setting, schema, required=required)


def given_settings(args: argparse.Namespace) -> dict[str, Any]:
    """The given settings, and null for those to reset to their defaults."""
    unset = {name.removeprefix("--").replace("-", "_"): None for name in getattr(args, "unset", [])}
    given = {name.removeprefix(_DEST): value for name, value in vars(args).items() if name.startswith(_DEST)}
    return {
        **unset,
        **{
            name: [one for one in value if one != ""] if isinstance(value, list) else value
            for name, value in given.items()
        },
    }


def unset_argument(parser: Arguments) -> None:
    """For commands that change settings."""
    parser.add_argument(
        "--unset",
        metavar="SETTING",
        action="append",
        default=[],
        help="reset this setting to its default; repeatable",
    )


def print_kinds(context: Context, response: Mapping[str, Any]) -> None:
    """The kinds, with the settings of each."""
    rows = [
        [
            kind["kind"],
            option_name(name),
            "required" if name in kind["settings"]["required"] else _usual(schema),
            " ".join(filter(None, (_title(schema), schema.get("description", "")))),
        ]
        for kind in response["items"]
        for name, schema in kind["settings"]["properties"].items()
    ]
    columns = [Column(title) for title in ("KIND", "SETTING", "DEFAULT", "WHAT IT IS")]
    context.answer(response, lambda: print_table(columns, rows))


def option_name(setting: str) -> str:
    """ "client_id" is given as "--client-id"."""
    return "--" + setting.replace("_", "-")


def setting_text(value: object) -> str:
    """A setting as people read it."""
    return value if isinstance(value, str) else json.dumps(value)


def _add(
    parser: Arguments,
    group: argparse._ArgumentGroup,
    prefix: str,
    setting: str,
    schema: Mapping[str, Any],
    *,
    required: bool,
) -> None:
    option = option_name(setting)
    if option in parser._option_string_actions:
        option = prefix + option.removeprefix("--")  # the command has an option of that name
    notes = [_title(schema), schema.get("description", ""), *_notes(schema, required)]
    shared: dict[str, Any] = {
        "dest": _DEST + setting,
        "default": argparse.SUPPRESS,
        "help": " ".join(filter(None, notes)).replace("%", "%%"),
    }
    kind = schema.get("type")
    if kind == "boolean":
        group.add_argument(option, action=argparse.BooleanOptionalAction, **shared)
    elif kind == "array":
        group.add_argument(
            option, action="append", metavar="VALUE", type=reading(_reader(schema.get("items", {}))), **shared
        )
    elif "enum" in schema:
        group.add_argument(option, choices=[str(one) for one in schema["enum"]], **shared)
    elif _is_file(schema):
        secret = bool(schema.get("writeOnly")) and schema.get("format") != "textarea"
        group.add_argument(option, metavar="FILE", type=reading(_FileReader(secret=secret)), **shared)
    else:
        group.add_argument(option, metavar=_metavar(schema), type=reading(_reader(schema)), **shared)


def _title(schema: Mapping[str, Any]) -> str:
    return f"{schema['title']}." if schema.get("title") else ""


def _notes(schema: Mapping[str, Any], required: bool) -> list[str]:
    usual = _usual(schema)
    return [
        *["Required." for _ in range(required)],
        *[f"Default: {usual}." for _ in range(bool(usual))],
        *["Repeatable." for _ in range(schema.get("type") == "array")],
        *["A file, or - for standard input." for _ in range(_is_file(schema))],
    ]


def _usual(schema: Mapping[str, Any]) -> str:
    usual = schema.get("default")
    if isinstance(usual, bool):
        return "on" if usual else "off"
    if isinstance(usual, list):
        return ", ".join(map(str, usual))
    return "" if usual is None else str(usual)


def _is_file(schema: Mapping[str, Any]) -> bool:
    """Secrets are on no command line, which others on the machine can read, and long texts do not fit there."""
    return bool(schema.get("writeOnly")) or schema.get("format") == "textarea"


def _metavar(schema: Mapping[str, Any]) -> str:
    return {"integer": "NUMBER", "number": "NUMBER", "object": "JSON"}.get(str(schema.get("type")), "VALUE")


def _reader(schema: Mapping[str, Any]) -> type[int] | type[float] | type[str] | Any:
    return {"integer": _integer, "number": float, "object": json.loads}.get(str(schema.get("type")), str)


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a whole number") from None


class _FileReader:
    """What a file holds. secret: one line, whose end is not part of it."""

    def __init__(self, *, secret: bool) -> None:
        self._secret = secret

    def __call__(self, path: str) -> str:
        try:
            if path == "-":
                return sys.stdin.readline().rstrip("\r\n") if self._secret else sys.stdin.read()
            with open(path, encoding="utf-8") as file:
                text = file.read()
        except (OSError, UnicodeDecodeError) as wrong:
            raise ValueError(f"{path} cannot be read: {wrong}") from None
        return text.rstrip("\r\n") if self._secret else text
