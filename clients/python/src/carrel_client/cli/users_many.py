"""Commands that create or delete many users."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence

from carrel_client.cli import sheets
from carrel_client.cli.asking import retyped, yes_argument
from carrel_client.cli.context import Context
from carrel_client.cli.output import counted, print_line, printable, say
from carrel_client.cli.parser import USAGE, Arguments, reading, whole_number
from carrel_client.cli.people import given
from carrel_client.cli.progress import ProgressLine
from carrel_client.cli.sheets import Row
from carrel_client.cli.users import fields, fields_of
from carrel_client.errors import CarrelError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from carrel_client import models

_REFUSED = 1
_CHECKED, _MADE, _PURGED = 200, 20, 20
"""Batch size: small enough for a progress bar."""
_SHOWN = 50
_MOST_GENERATED = 1000
_PART = re.compile(r"[A-Za-z0-9._-]{1,30}")


def import_users_arguments(parser: Arguments) -> None:
    parser.add_argument("file", metavar="FILE", nargs="?", help="a CSV file in UTF-8; - for standard input")
    parser.add_argument("--template", action="store_true", help="print a template and exit")
    _making(parser)
    parser.explain(
        "Create users from a CSV file. Its first line names the columns, in any order and case; email and\n"
        f"name are required, and empty cells take the values of the options. At most {sheets.MOST_ROWS} users.\n"
        "Projects and addresses are separated by semicolons. All lines are checked first; if one is invalid,\n"
        "no user is created, unless --skip-invalid is given. Generated passwords and links are printed as CSV."
    )
    parser.example(
        "carrel user import --template > people.csv",
        "carrel user import people.csv --dry-run",
        "carrel user import people.csv --project vision --link --save links.csv",
    )


def import_users(args: argparse.Namespace, context: Context) -> int:
    """Create users from a file."""
    if args.template:
        sys.stdout.write(sheets.template())
        return 0
    if not args.file:
        say("error: which file? (usage)")
        say("hint: carrel user import --help")
        return USAGE
    return _make(args, context, sheets.read(args.file))


def generate_arguments(parser: Arguments) -> None:
    parser.add_argument("--prefix", required=True, help="text before the number")
    parser.add_argument(
        "--suffix", required=True, metavar="@HOST", help="text after the number: @example.org"
    )
    parser.add_argument("--count", required=True, type=reading(whole_number), help="number of users")
    parser.add_argument(
        "--start", type=reading(whole_number), default=1, help="the first number (default: 1)"
    )
    _making(parser)
    parser.explain("Create users with numbered e-mails, padded with zeros. --dry-run shows them.")
    parser.example(
        "carrel user generate --prefix course- --suffix @example.org --count 20 --dry-run",
        "carrel user generate --prefix course- --suffix @example.org --count 20 --generate-password --save new.csv",
    )


def generate(args: argparse.Namespace, context: Context) -> int:
    """Create users by a pattern."""
    host = args.suffix.removeprefix("@")
    if not (_PART.fullmatch(args.prefix) and _PART.fullmatch(host)):
        raise CarrelError(
            "client.pattern",
            "Prefix and suffix have 1 to 30 letters, digits, . - and _ each.",
            status=422,
        )
    if not 1 <= args.count <= _MOST_GENERATED:
        raise CarrelError(
            "client.pattern", f"Between 1 and {_MOST_GENERATED} users can be created at once.", status=422
        )
    last = args.start + args.count - 1
    width = len(str(last))
    names = [f"{args.prefix}{number:0{width}}" for number in range(args.start, last + 1)]
    rows = [Row(at, {"email": f"{name}@{host}", "name": name}) for at, name in enumerate(names, 1)]
    return _make(args, context, rows)


def purge_arguments(parser: Arguments) -> None:
    parser.add_argument("emails", metavar="E-MAIL", nargs="+", help="e-mails of the users to delete")
    parser.add_argument("--sessions", choices=("end",), help="end their live sessions")
    folders = parser.add_mutually_exclusive_group()
    folders.add_argument("--folders-to", metavar="E-MAIL", help="new owner of their folders")
    folders.add_argument("--delete-folders", action="store_true", default=None, help="delete their folders")
    yes_argument(parser)
    parser.explain(
        "Permanently delete inactive users; only their id stays, in the history of sessions. This cannot be\n"
        "undone. Name each by e-mail; the command asks for confirmation. For users with folders, --folders-to\n"
        "or --delete-folders is required."
    )
    parser.example(
        "carrel user disable ada@example.org",
        "carrel user purge ada@example.org --folders-to grace@example.org",
    )


def purge(args: argparse.Namespace, context: Context) -> int:
    """Permanently delete users."""
    if not _sure(args.emails, yes=args.yes):
        say("Nobody was deleted.")
        return _REFUSED
    items: list[models.UserPurged] = []
    choices = given(args, "sessions", "folders_to", "delete_folders")
    with ProgressLine(after_s=1.0) as progress:
        for part in _parts(args.emails, _PURGED):
            progress.update("deleting users", len(items) / len(args.emails))
            users: list[models.PurgeOne] = [{"user": email, "confirm": email} for email in part]
            items += context.client.users.purge_many(users=users, **choices)["items"]
    failed = sum(item["status"] == "failed" for item in items)

    def show() -> None:
        for item in items:
            if item["problem"]:
                say(f"error: {item['user']}: {item['problem']['detail']} ({item['problem']['code']})")
            else:
                print_line(f"{item['user']} was permanently deleted")

    context.answer({"items": items, "purged": len(items) - failed, "failed": failed}, show)
    return _REFUSED if failed else 0


def _sure(emails: Sequence[str], *, yes: bool) -> bool:
    return retyped(emails[0] if len(emails) == 1 else f"delete {len(emails)} users", yes=yes)


def _making(parser: Arguments) -> None:
    fields(parser)
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument(
        "--password-stdin", action="store_true", help="read a password for all from standard input"
    )
    ways.add_argument("--generate-password", action="store_true", help="generate a password for each")
    ways.add_argument(
        "--link", action="store_true", help="generate a one-time link for each, to set a password"
    )
    parser.add_argument("--dry-run", action="store_true", help="only check and show what would be created")
    parser.add_argument(
        "--skip-invalid", action="store_true", help="create the valid ones and skip the others"
    )
    parser.add_argument(
        "--save", metavar="FILE", help="write passwords and links to this file, readable only by you"
    )


def _make(args: argparse.Namespace, context: Context, rows: Sequence[Row]) -> int:
    defaults = fields_of(args)
    defaults |= {way: True for way in ("generate_password", "link") if getattr(args, way)}
    if args.password_stdin:
        defaults["password"] = sys.stdin.readline().rstrip("\r\n")
    _refuse_twins(rows)
    # 1. check all rows
    checked = _sent(context, rows, defaults, size=_CHECKED, doing="checking users", dry_run=True)
    good = [row for row, answer in checked if answer["status"] == "valid"]
    if args.dry_run or (len(good) < len(rows) and not args.skip_invalid):
        _report(context, checked, args.dry_run)
        return _REFUSED if len(good) < len(rows) else 0
    # 2. create them; report what was created even after a failure
    made: list[tuple[Row, models.UserMade]] = [pair for pair in checked if pair[1]["status"] != "valid"]
    try:
        _sent(context, good, defaults, size=_MADE, doing="making users", dry_run=False, into=made)
    finally:
        _hand_over(args, context, made)
        _report(context, made, False)
    return _REFUSED if any(answer["status"] == "failed" for _, answer in made) else 0


def _refuse_twins(rows: Sequence[Row]) -> None:
    """Find duplicates across batches, which the server cannot see."""
    lines: dict[str, int] = {}
    for row in rows:
        email = (row.user.get("email") or "").lower()
        if email and email in lines:
            raise CarrelError(
                "client.sheet", f"Lines {lines[email]} and {row.line} have the same e-mail.", status=422
            )
        lines[email] = row.line


def _sent(
    context: Context,
    rows: Sequence[Row],
    defaults: dict[str, Any],
    *,
    size: int,
    doing: str,
    dry_run: bool,
    into: list[tuple[Row, models.UserMade]] | None = None,
) -> list[tuple[Row, models.UserMade]]:
    """Each row with its result. into: extended with every batch, so that it is available after a failure."""
    answers = [] if into is None else into
    done = 0
    with ProgressLine(after_s=1.0) as progress:
        for part in _parts(rows, size):
            progress.update(doing, done / len(rows))
            response = context.client.users.create_many(
                rows=[row.user for row in part],
                defaults=defaults,  # type: ignore[arg-type]
                dry_run=dry_run,
            )
            answers += zip(part, response["items"], strict=True)
            done += len(part)
    return answers


def _hand_over(
    args: argparse.Namespace, context: Context, made: Sequence[tuple[Row, models.UserMade]]
) -> None:
    """Print or save passwords and links, which cannot be shown again."""
    secrets = [
        (answer["email"], answer["password"] or "", answer["link"]["url"] if answer["link"] else "")
        for _, answer in made
        if answer["password"] or answer["link"]
    ]
    if not secrets or (context.structured and not args.save):
        return
    text = sheets.results(secrets)
    if not args.save:
        sys.stdout.write(text)
        return
    try:
        descriptor = os.open(args.save, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        # They would be lost.
        say(f"error: {args.save} cannot be written: {error.strerror} (client.save)")
        sys.stdout.write(text)
        return
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    say(f"{counted(len(secrets), 'password or link is', 'passwords or links are')} in {args.save}")


def _report(context: Context, answers: Sequence[tuple[Row, models.UserMade]], dry_run: bool) -> None:
    failed = [(row, answer) for row, answer in answers if answer["status"] == "failed"]
    done = [answer for _, answer in answers if answer["status"] != "failed"]

    def show() -> None:
        for row, answer in failed[:_SHOWN]:
            for problem in answer["problems"]:
                who = printable(answer["email"]) or "?"
                say(f"error: line {row.line}, {who}: {problem['detail']} ({problem['code']})")
        if len(failed) > _SHOWN:
            say(f"and {counted(len(failed) - _SHOWN, 'more invalid line', 'more invalid lines')}")
        for answer in done[:_SHOWN] if dry_run else []:
            print_line(answer["email"])
        if dry_run and len(done) > _SHOWN:
            print_line(f"and {len(done) - _SHOWN} more")
        made = sum(answer["status"] == "created" for answer in done)
        say(
            f"{len(done)} can be created, {len(failed)} cannot"
            if not made
            else f"{made} created, {len(failed)} failed"
        )

    items = [{**answer, "line": row.line} for row, answer in answers]
    context.answer({"items": items, "done": len(done), "failed": len(failed)}, show)


def _parts(items: Sequence[Any], size: int) -> list[Sequence[Any]]:
    return [items[at : at + size] for at in range(0, len(items), size)]
