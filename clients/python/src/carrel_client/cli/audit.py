"""Commands for the audit trail."""

from __future__ import annotations

import argparse
import os
import re
import sys

from carrel_client.cli.context import Context
from carrel_client.cli.output import Column, counted, print_facts, print_table, say, write_bytes
from carrel_client.cli.parser import Arguments, reading, whole_number
from carrel_client.cli.progress import ProgressLine
from carrel_client.cli.saving import PATIENCE_S, not_a_file, save
from carrel_client.cli.times import local_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    from carrel_client import models

_PAGE = 200
_OUTCOMES = {"refused": "red", "done": "green"}
_PLACE = re.compile(r"[0-9]{1,18}:[0-9a-fA-F]{64}")
_DONE, _FAULTY = 0, 1


def _filters(parser: Arguments) -> None:
    parser.add_argument("--from", dest="from_", metavar="TIME", help="not before: 2026-01-31, or with T14:00")
    parser.add_argument("--to", metavar="TIME", help="before this time; without a zone it is UTC")
    parser.add_argument("--actor", metavar="WHO", help="e-mail or id of the actor")
    parser.add_argument(
        "--action", metavar="A", help="an action or a group of actions: session.create, session.*"
    )
    parser.add_argument("--kind", metavar="K", help="kind of the object: session, user, keypair ...")
    parser.add_argument("--object", metavar="ID", help="id of the object")
    parser.add_argument("--outcome", choices=("done", "refused"), help="only this outcome")
    parser.add_argument("--address", metavar="IP", help="source address")
    parser.add_argument("--search", metavar="TEXT", help="part of an e-mail or of an object's name")
    parser.add_argument("--mine", action="store_true", help="your own actions, and actions on your objects")


def _query(args: argparse.Namespace) -> dict[str, Any]:
    return {
        "from_": args.from_,
        "to": args.to,
        "actor": args.actor,
        "action": args.action,
        "object_kind": args.kind,
        "object_id": args.object,
        "outcome": args.outcome,
        "address": args.address,
        "q": args.search,
        "owner": "me" if args.mine else None,
    }


def ls_arguments(parser: Arguments) -> None:
    _filters(parser)
    parser.add_argument("--limit", type=reading(whole_number), default=50, help="maximum number; 0 for all")
    parser.watches()
    parser.explain(
        "List audit entries, newest first: your actions and actions on your objects. Administrators see their\n"
        "domain, superadmins everything."
    )
    parser.example(
        "carrel audit ls",
        "carrel audit ls --outcome refused --from 2026-01-01",
        "carrel audit ls --actor ada@example.org --action 'session.*'",
        "carrel audit ls --object k3fa2b3c4d5e -o json | jq '.items[].details'",
    )


def ls(args: argparse.Namespace, context: Context) -> int:
    """List entries."""
    limit = args.limit or sys.maxsize
    trail: models.AuditList = {"items": [], "next_cursor": None}
    while True:
        size = min(_PAGE, limit - len(trail["items"]))
        page = context.client.audit.list(**_query(args), limit=size, cursor=trail["next_cursor"])
        trail = {**page, "items": trail["items"] + page["items"]}
        if not page["next_cursor"] or len(trail["items"]) >= limit:
            break

    def show() -> None:
        _print_entries(trail["items"])
        if trail["next_cursor"]:
            say(
                f"These are the newest {args.limit}; use --limit for more, or save them with carrel audit export."
            )

    context.answer(trail, show)
    return _DONE


def _print_entries(entries: list[models.AuditEntryView]) -> None:
    columns = [Column(title) for title in ("AT", "BY", "ACTION", "OBJECT")]
    columns += [Column("OUTCOME", _OUTCOMES), Column("FROM"), Column("REASON")]
    rows = [
        [
            local_time(entry["at"]),
            entry["actor"]["email"] or entry["credential"],
            entry["action"],
            entry["object"]["name"] or entry["object"]["id"],
            entry["outcome"],
            entry["address"],
            entry["reason"],
        ]
        for entry in entries
    ]
    print_table(columns, rows)


def export_arguments(parser: Arguments) -> None:
    parser.add_argument("file", metavar="FILE", nargs="?", help="output file (default: standard output)")
    parser.add_argument(
        "--format",
        choices=("csv", "jsonl"),
        help="table or JSON lines (default: by FILE's suffix, else jsonl)",
    )
    _filters(parser)
    parser.without_output()
    parser.explain(
        "Save all matching entries, newest first. JSON lines keep each entry byte for byte as sealed, for\n"
        "carrel audit verify; CSV is for spreadsheets. The export itself is recorded in the trail."
    )
    parser.example(
        "carrel audit export trail.jsonl",
        "carrel audit export --from 2026-01-01 --to 2026-02-01 january.csv",
        "carrel audit export --mine --format csv > mine.csv",
    )


def export(args: argparse.Namespace, context: Context) -> int:
    """Save entries."""
    kind: Literal["csv", "jsonl"] = args.format or ("csv" if (args.file or "").endswith(".csv") else "jsonl")
    blocks = context.client.audit.export(format=kind, **_query(args))
    if args.file is None:
        for block in blocks:
            write_bytes(block)
        return _DONE
    save(args.file, blocks)
    return _DONE


def verify_arguments(parser: Arguments) -> None:
    parser.add_argument(
        "file", metavar="FILE", nargs="?", help="verify a saved trail (JSON lines) instead of the server's"
    )
    parser.add_argument(
        "--expect", metavar="POSITION:HASH", type=reading(_place), help="a head printed by an earlier check"
    )
    parser.add_argument("--partial", action="store_true", help="FILE contains only some of the entries")
    parser.explain(
        "Verify the audit trail: every entry matches its seal and none is missing. Prints the head of the\n"
        "chain; store it elsewhere. With --expect it also detects a rebuilt or truncated chain. Exit code 1:\n"
        "verification failed. With FILE it needs no server; without FILE it is for superadmins."
    )
    parser.example(
        "carrel audit verify",
        'carrel audit verify --expect "$(cat head.txt)"',
        "carrel audit export trail.jsonl && carrel audit verify trail.jsonl",
    )


def verify(args: argparse.Namespace, context: Context) -> int:
    """Verify the chain."""
    check = _verified_file(args) if args.file else _verified_server(args, context)
    context.answer(check, lambda: _print_check(check))
    return _FAULTY if check["faults"] else _DONE


def _verified_server(args: argparse.Namespace, context: Context) -> models.AuditCheck:
    """The results of all parts, combined."""
    with ProgressLine(after_s=PATIENCE_S) as progress:
        progress.update("verifying the audit trail", 0.0)
        check = part = context.client.audit.verify(expect=args.expect)
        while not part["done"]:
            progress.update("verifying the audit trail", part["reached"] / part["head"]["position"])
            part = context.client.audit.verify(after=part["reached"], expect=args.expect)
            check = {
                **part,
                "checked": check["checked"] + part["checked"],
                "faults": check["faults"] + part["faults"],
            }
    return check


def _verified_file(args: argparse.Namespace) -> models.AuditCheck:
    from carrel_client.audit_file import SavedTrail

    trail = SavedTrail(expect=args.expect)
    try:
        with open(args.file, "rb") as file, ProgressLine(after_s=PATIENCE_S) as progress:
            size = os.fstat(file.fileno()).st_size or 1
            for read in trail.read(file):
                progress.update(f"verifying {args.file}", read / size)
    except OSError as error:
        raise not_a_file(args.file, error) from error
    trail.finish(partial=args.partial)
    return trail.check


def _print_check(check: models.AuditCheck) -> None:
    for fault in check["faults"]:
        say(f"{fault['kind']}: {fault['sentence']}")
    count, head = check["checked"], check["head"]
    if check["faults"]:
        verdict = "seal mismatch; see above"
    else:
        verdict = f"{counted(count, 'entry is', 'entries are')} verified, none is missing"
    cut = f"{check['start']['position']}, cut by retention" if check["start"]["position"] else ""
    print_facts(
        [
            ("trail", verdict),
            ("not sealed yet", str(check["waiting"] or "")),
            ("begins behind", cut),
            ("head", f"{head['position']}:{head['hash']}"),
        ]
    )


def _place(text: str) -> str:
    """Raises: ValueError."""
    if not _PLACE.fullmatch(text):
        raise ValueError("write a position in the chain as POSITION:HASH, as printed by an earlier check")
    return text
