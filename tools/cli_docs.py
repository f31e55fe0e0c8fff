"""Write docs/reference/cli.md from the table of commands, or check it.

python tools/cli_docs.py            write it
python tools/cli_docs.py --check    exit code 1 if it is out of date
"""

import argparse
import sys
from pathlib import Path

from carrel_client.cli.commands import COMMANDS, GROUPS, OPERATOR, Command
from carrel_client.cli.parser import EXIT_CODES, Arguments, arguments_of

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/reference/cli.md"

HEAD = """# The `carrel` command

This page is written by `tools/cli_docs.py` from the commands themselves.

`ID` is a session's id, a unique beginning of it (three letters or more), or its name. Every command takes
`--help`, `--profile NAME`, and, where it has an answer to print, `-o FORMAT`. These may also stand in front of the
command: `carrel -o json session ls`. Options may stand before, between and behind other words; behind `--` nothing is
an option.

## Output

| `-o` | prints |
| --- | --- |
| `table` | what people read (the default); times are by the clock of your machine |
| `json` | exactly what the HTTP API said; times are in UTC |
| `yaml` | the same as YAML |
| `jsonpath=TEMPLATE` | what a template takes from it |

A template is text with expressions in braces, as kubectl has them; without braces it is one expression. Several values
of one path come with a space between, texts as they stand, everything else as JSON. What is not there gives nothing.
Filters are no part of it.

| in a template | |
| --- | --- |
| `{.items[0].name}`, `{.items[-1]}`, `{.items[1:3]}` | a field, one of a list, some of a list |
| `{.items[*].name}`, `{.slots.*}`, `{..name}` | of each of a list, all fields, fields of that name at any depth |
| `{.slots['cuda.shares']}` | a field with other characters in its name |
| `{range .items[*]}{.name}{"\\n"}{end}` | something for each |

`carrel LIST --watch` shows a list again whenever it changes: on a terminal in place of the last one, elsewhere below
it, and with `-o json` as one line for each. The server's events tell of changes; lists of which no event tells are
asked for every two seconds.

## Removing

Commands that remove, end or give something up ask on a terminal. Without one they do nothing and end with exit code
2, unless `--yes` is given.

## Who you are

| in this order | |
| --- | --- |
| `--profile NAME` | a profile that `carrel login` made |
| `CARREL_URL`, `CARREL_ACCESS_KEY`, `CARREL_SECRET_KEY` | a keypair for a script; all three together |
| `CARREL_PROFILE` | the name of a profile |
| | the profile `default` |

Profiles are files in `$XDG_CONFIG_HOME/carrel/profiles` (`~/.config/carrel/profiles`), one for each, which only
you can read. `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` are respected, `SSL_CERT_FILE` names
authorities to trust, and `NO_COLOR` turns colours off. The command runs on Linux and macOS; on Windows, inside WSL.

## Exit codes

Errors go to standard error, as `error: what happened (code)` and often `hint: what to do`.
"""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    rendered = render()
    if not args.check:
        PAGE.write_text(rendered)
        return 0
    if PAGE.exists() and PAGE.read_text() == rendered:
        return 0
    print(f"{PAGE.relative_to(ROOT)} is not what the commands say; run tools/cli_docs.py", file=sys.stderr)
    return 1


def render() -> str:
    """The page's text."""
    codes = "\n".join(f"| {code} | {meaning} |" for code, meaning in EXIT_CODES)
    parts = [HEAD, f"| code | meaning |\n| --- | --- |\n{codes}\n"]
    parts.append(
        "`carrel session exec` and `carrel session terminal` end with the exit code of what they ran.\n"
    )
    sections = {"": "Signing in, and the rest"} | GROUPS
    for group, title in sections.items():
        members = [command for words, command in COMMANDS.items() if _group(words) == group]
        parts.append(f"## {title}\n")
        parts += map(_section, members)
    operator = "\n".join(f"| `carrel {name}` | {summary} |" for name, summary in OPERATOR.items())
    parts.append("## Running the server\n")
    parts.append("These belong to the server's package; see [up](command-up.md).\n")
    parts.append(f"| command | |\n| --- | --- |\n{operator}\n")
    return "\n".join(parts)


def _group(words: str) -> str:
    first = words.split()[0]
    return first if first in GROUPS else ""


def _section(command: Command) -> str:
    parser, _ = arguments_of(command)
    lines = [f"### `carrel {command.words}{_usage(parser)}`", "", parser.explanation, ""]
    rows = [_row(action) for action in parser._actions if action.dest not in ("help", "profile")]
    if rows:
        lines += ["| argument | |", "| --- | --- |", *rows, ""]
    lines += ["```sh", *parser.examples, "```", ""]
    return "\n".join(lines)


def _usage(parser: Arguments) -> str:
    """The positional arguments, as on the command line."""
    positionals = [action for action in parser._actions if not action.option_strings]
    return "".join(f" {_shown(action)}{_repeats(action)}" for action in positionals)


def _repeats(action: argparse.Action) -> str:
    return "..." if action.nargs in ("+", "*") else ""


def _shown(action: argparse.Action) -> str:
    if action.choices:
        return "|".join(map(str, action.choices))
    return str(action.metavar or action.dest.upper())


def _row(action: argparse.Action) -> str:
    names = ", ".join(f"`{name}`" for name in action.option_strings) or f"`{_shown(action)}`"
    value = f" `{_shown(action)}`" if action.option_strings and action.nargs != 0 else ""
    cells = (text.replace("|", "\\|") for text in (names + value, action.help or ""))
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    raise SystemExit(main())
