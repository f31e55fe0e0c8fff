"""Commands that check the installation."""

from __future__ import annotations

import argparse

from carrel_client.cli.context import Context
from carrel_client.cli.output import Column, counted, print_facts, print_line, print_table
from carrel_client.cli.parser import Arguments
from carrel_client.cli.saving import save
from carrel_client.units import format_size

_STATES = {"ok": "green", "warning": "yellow", "failed": "red"}
_FAULTY = 1


def check_arguments(parser: Arguments) -> None:
    parser.add_argument("--failed", action="store_true", help="only warnings and failures")
    parser.explain(
        "Run all checks of the installation now; exit code 1 if one failed. Superadministrators only."
    )
    parser.example("carrel server check", "carrel server check --failed", "carrel server check -o json")


def check(args: argparse.Namespace, context: Context) -> int:
    """Check the installation."""
    response = context.client.maintenance.checks()
    failed = any(one["state"] == "failed" for one in response["items"])
    items = [one for one in response["items"] if not args.failed or one["state"] != "ok"]

    def show() -> None:
        if not items:
            print_line("all checks passed")
            return
        columns = [
            Column("CHECK"),
            Column("STATE", _STATES),
            Column("SUBJECT"),
            Column("DETAIL"),
            Column("REMEDY"),
        ]
        print_table(
            columns,
            [[one["name"], one["state"], one["subject"], one["detail"], one["remedy"]] for one in items],
        )

    context.answer({**response, "items": items}, show)
    return _FAULTY if failed else 0


def consistency_arguments(parser: Arguments) -> None:
    parser.explain(
        "Compare sessions and allocations with the containers of each engine. Changes nothing; Carrel repairs\n"
        "differences to an engine by itself within seconds. Exit code 1 if there are differences, or if an engine\n"
        "could not be compared. Superadministrators only."
    )
    parser.example(
        "carrel server consistency", "carrel server consistency -o json | jq '.differences[].kind'"
    )


def consistency(args: argparse.Namespace, context: Context) -> int:
    """Compare the ledger with the engines."""
    report = context.client.maintenance.consistency()

    def show() -> None:
        placed, held = report["containers"], report["allocations"]
        print_line(f"{counted(placed, 'container')} on nodes, {counted(held, 'allocation')}")
        for engine in report["engines"]:
            print_line(
                f"engine {engine['name']}: "
                + (
                    f"not compared: {engine['error']}"
                    if engine["error"]
                    else counted(engine["containers"] or 0, "container")
                )
            )
        if report["differences"]:
            columns = [Column(title) for title in ("KIND", "WHERE", "SUBJECT", "DETAIL")]
            rows = [
                [one["kind"], one["where"], one["subject"], one["detail"]] for one in report["differences"]
            ]
            print_table(columns, rows)
        else:
            print_line("no differences")

    context.answer(report, show)
    return _FAULTY if report["differences"] or any(one["error"] for one in report["engines"]) else 0


def info_arguments(parser: Arguments) -> None:
    parser.add_argument("--packages", action="store_true", help="list all packages with their licences")
    parser.explain("Show versions and limits of the installation. Superadministrators only.")
    parser.example("carrel server info", "carrel server info --packages", "carrel server info -o json")


def info(args: argparse.Namespace, context: Context) -> int:
    """Show versions, licences and limits."""
    facts = context.client.maintenance.information()

    def show() -> None:
        if args.packages:
            columns = [Column(title) for title in ("PART", "PACKAGE", "VERSION", "LICENCE")]
            rows = [[one["part"], one["name"], one["version"], one["licence"]] for one in facts["packages"]]
            print_table(columns, rows)
            return
        print_facts(
            [
                ("version", facts["version"]),
                ("licence", facts["licence"]),
                ("schema", facts["schema_revision"]),
                ("python", facts["python"]),
                ("system", facts["system"]),
                ("database", f"{facts['database']}, {format_size(facts['database_bytes'])}"),
                ("data directory", facts["data_dir"]),
                *((one["name"].replace("_", " "), one["value"]) for one in facts["limits"]),
                ("packages", f"{len(facts['packages'])}, see --packages"),
            ]
        )

    context.answer(facts, show)
    return 0


def bundle_arguments(parser: Arguments) -> None:
    parser.add_argument(
        "file", metavar="FILE", nargs="?", default="carrel-support.zip", help="the zip file to write"
    )
    parser.without_output()
    parser.explain(
        "Save a zip file for whoever helps with a problem: versions, checks, consistency, settings and the end of\n"
        "each log. Secrets are left out; read it before you send it. Superadministrators only."
    )
    parser.example("carrel server bundle", "carrel server bundle support.zip")


def bundle(args: argparse.Namespace, context: Context) -> int:
    """Save a support bundle."""
    save(args.file, context.client.maintenance.bundle())
    return 0
