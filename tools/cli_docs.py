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

`tools/cli_docs.py` generates this page from the commands.

`ID` is a session's id, a unique prefix of it (at least three characters), or its name. Every command has `--help` and
`--profile NAME`, and `-o FORMAT` if it prints a result. These options may also precede the command:
`carrel -o json session ls`. Options and other arguments may be in any order; nothing after `--` is an option.

## Output

| `-o` | prints |
| --- | --- |
| `table` | a table (the default), with times in local time |
| `json` | the exact response of the HTTP API, with times in UTC |
| `yaml` | the same as YAML |
| `jsonpath=TEMPLATE` | the parts that a template selects |

A template is text with expressions in braces, as in kubectl; without braces it is one expression. Several values
of one path are separated by spaces; strings are printed as they are, everything else as JSON, and missing values as
nothing. Filters are not supported.

| in a template | selects |
| --- | --- |
| `{.items[0].name}`, `{.items[-1]}`, `{.items[1:3]}` | a field, an element of a list, a slice |
| `{.items[*].name}`, `{.slots.*}`, `{..name}` | a field of each element, all fields, that field at any depth |
| `{.slots['cuda.shares']}` | a field with other characters in its name |
| `{range .items[*]}{.name}{"\\n"}{end}` | a template for each element |

`carrel LIST --watch` prints a list again whenever it changes: on a terminal in place of the previous one, otherwise
below it, and with `-o json` as one line each time. The server's events trigger it; lists without
events are polled every two seconds.

## Confirmation

Destructive commands ask for confirmation on a terminal. Without a terminal they do nothing and exit with code 2, unless
`--yes` is given.

## Credentials

| in this order | |
| --- | --- |
| `--profile NAME` | a profile that `carrel login` created |
| `CARREL_URL`, `CARREL_TOKEN` | a personal token for a script |
| `CARREL_URL`, `CARREL_ACCESS_KEY`, `CARREL_SECRET_KEY` | a keypair for a script; set all three |
| `CARREL_URL` alone | the profile of that server |
| `CARREL_PROFILE` | the name of a profile |
| | the profile `default` |

Profiles are files in `$XDG_CONFIG_HOME/carrel/profiles` (`~/.config/carrel/profiles`), readable only by
you. The command respects `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`; `SSL_CERT_FILE` names certificate
authorities to trust, and `NO_COLOR` disables colours. The command runs on Linux and macOS; on Windows, inside WSL.

## Exit codes

Errors go to standard error, as `error: message (code)`, often with `hint: what to do`.
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
    print(f"{PAGE.relative_to(ROOT)} is out of date: run tools/cli_docs.py", file=sys.stderr)
    return 1


def render() -> str:
    """The page's text."""
    codes = "\n".join(f"| {code} | {meaning} |" for code, meaning in EXIT_CODES)
    parts = [HEAD, f"| code | meaning |\n| --- | --- |\n{codes}\n"]
    parts.append(
        "`carrel session exec` and `carrel session terminal` return the exit code of the command or shell.\n"
    )
    sections = {"": "Sign-in and other commands"} | GROUPS
    for group, title in sections.items():
        members = [command for words, command in COMMANDS.items() if _group(words) == group]
        parts.append(f"## {title}\n")
        parts += map(_section, members)
    operator = "\n".join(f"| `carrel {name}` | {summary} |" for name, summary in OPERATOR.items())
    parts.append("## Server commands\n")
    parts.append("These are in the server's package, see [`carrel up`](command-up.md).\n")
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
