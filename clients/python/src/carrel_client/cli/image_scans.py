"""Commands for scans of images: packages, known vulnerabilities, SBOMs and exemptions."""

from __future__ import annotations

import argparse
import sys
import time
from functools import partial

from carrel_client.cli import rescans
from carrel_client.cli.context import Context
from carrel_client.cli.output import Column, print_facts, print_table, write_bytes
from carrel_client.cli.parser import Arguments, reading, whole_number
from carrel_client.cli.people import given, list_arguments, listed
from carrel_client.cli.progress import ProgressLine
from carrel_client.cli.times import local_time, utc_time
from carrel_client.errors import CarrelError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from carrel_client import models

SEVERITIES = ("critical", "high", "medium", "low", "unknown")
_COLOURS = {"critical": "red", "high": "red", "medium": "yellow"}
_STATES = {"done": "green", "failed": "red"}
_EFFECTS = {"refuse": "red", "warn": "yellow"}
_FASTEST_S, _SLOWEST_S = 0.2, 2.0


def ls_arguments(parser: Arguments) -> None:
    list_arguments(parser, "reference", "ended_at")
    _severity(parser, "only images with a vulnerability that is at least as severe")
    parser.watches("image_scan")
    parser.explain("List the latest scan of each image that you can use; for superadmins of all images.")
    parser.example("carrel image scans", "carrel image scans --severity critical -o json")


def ls(args: argparse.Namespace, context: Context) -> int:
    """List scans of images."""
    response = listed(args, partial(context.client.image_scans.list, severity=args.severity))
    context.answer(response, lambda: _print_scans(response["items"]))
    return 0


def scan_arguments(parser: Arguments) -> None:
    parser.add_argument(
        "image", metavar="IMAGE", nargs="?", help="name in the catalogue, env:NAME or reference"
    )
    parser.add_argument("--all", action="store_true", help="scan all images that a node has")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--no-wait", action="store_true", help="do not wait until it has ended")
    what.add_argument("--cancel", action="store_true", help="cancel the scan; the former result stays")
    parser.explain(
        "Scan an image for packages and known vulnerabilities now; exit code 1 if that fails. Images that sessions\n"
        "can use are scanned by themselves when a node has them, and again from time to time."
    )
    parser.example(
        "carrel image scan python:3.13", "carrel image scan python:3.13 --cancel", "carrel image scan --all"
    )


def scan(args: argparse.Namespace, context: Context) -> int:
    """Scan an image, or all."""
    if rescans.chosen(args, args.image, "image"):
        return rescans.scan(args, context, "images")
    if args.cancel:
        ended = context.client.image_scans.cancel(_scan_of(context, args.image)["id"])
    else:
        ended = context.client.image_scans.create(image=args.image)
        if not args.no_wait:
            ended = _ended(context, ended)
    context.answer(ended, lambda: _print(ended))
    return 1 if ended["state"] in ("failed", "cancelled") else 0


def vulnerabilities_arguments(parser: Arguments) -> None:
    _image(parser)
    _severity(parser, "only those that are at least as severe")
    parser.add_argument("--fixable", choices=("yes", "no"), help="only those with or without a fixed version")
    _search(parser, "part of the id or of the package's name")
    parser.add_argument("--csv", action="store_true", help="print all as CSV")
    parser.explain(
        "List the known vulnerabilities in an image: the most severe first, of these the most probably exploited.\n"
        "EPSS is the probability of that within 30 days, CVSS a score from 0 to 10; empty if unknown.\n"
        "SINCE is the day on which a scan first found it there."
    )
    parser.example(
        "carrel image vulnerabilities python:3.13 --severity high",
        "carrel image vulnerabilities env:mine --fixable yes -o json | jq -r '.items[].id'",
        "carrel image vulnerabilities python:3.13 --csv > vulnerabilities.csv",
    )


def vulnerabilities(args: argparse.Namespace, context: Context) -> int:
    """List vulnerabilities in an image."""
    scans, scan_id = context.client.image_scans, _scan_of(context, args.image)["id"]
    chosen = given(args, "severity", "fixable")
    if args.csv:
        if context.structured:
            raise CarrelError("usage", "--csv and -o exclude each other.", status=422, hint="Give one.")
        write_bytes(b"".join(scans.export_vulnerabilities(scan_id, q=args.search, **chosen)))
        return 0
    response = _pages(args, partial(scans.vulnerabilities, scan_id, **chosen))
    titles = ("CVSS", "EPSS", "ID", "PACKAGE", "VERSION", "FIXED IN", "SINCE", "TITLE", "LINK")
    texts = ("id", "package", "version", "fixed", "since", "title", "link")
    rows = [[one["severity"], *_scores(one), *(one[name] for name in texts)] for one in response["items"]]
    columns = [Column("SEVERITY", _COLOURS), *(Column(title) for title in titles)]
    context.answer(response, lambda: print_table(columns, rows))
    return 0


def _scores(one: models.VulnerabilityView) -> list[str]:
    score, epss = one["cvss_score"], one["epss"]
    return ["" if score is None else f"{score:.1f}", "" if epss is None else f"{100 * epss:.1f} %"]


def packages_arguments(parser: Arguments) -> None:
    _image(parser)
    _search(parser, "part of the name or licence")
    parser.explain("List the packages in an image, with versions and licences, by name.")
    parser.example("carrel image packages python:3.13 --search openssl")


def packages(args: argparse.Namespace, context: Context) -> int:
    """List packages in an image."""
    response = _pages(args, partial(context.client.image_scans.packages, _scan_of(context, args.image)["id"]))
    fields = ("name", "version", "type", "license")
    rows = [[one[field] for field in fields] for one in response["items"]]
    context.answer(response, lambda: print_table([Column(field.upper()) for field in fields], rows))
    return 0


def sbom_arguments(parser: Arguments) -> None:
    _image(parser)
    parser.without_output()
    parser.explain(
        "Print the software bill of materials of an image, with its vulnerabilities, in CycloneDX JSON."
    )
    parser.example("carrel image sbom python:3.13 > sbom.json")


def sbom(args: argparse.Namespace, context: Context) -> int:
    """Print the SBOM of an image."""
    for block in context.client.image_scans.sbom(_scan_of(context, args.image)["id"]):
        sys.stdout.buffer.write(block)
    sys.stdout.buffer.flush()
    return 0


def exempt_arguments(parser: Arguments) -> None:
    _image(parser)
    parser.add_argument("--reason", metavar="TEXT", help="why sessions may use it; it is audited")
    parser.add_argument(
        "--until", metavar="TIME", type=reading(utc_time), help="when the exemption ends, within a year"
    )
    parser.add_argument("--end", action="store_true", help="end the exemption now")
    parser.explain(
        "Permit sessions of an image although the installation's rule refuses its vulnerabilities."
    )
    parser.example(
        "carrel image exempt python:3.13 --until 2026-12-31 --reason 'no fix yet; only offline'",
        "carrel image exempt python:3.13 --end",
    )


def exempt(args: argparse.Namespace, context: Context) -> int:
    """Exempt an image from the rule on vulnerabilities."""
    if args.end == bool(args.reason or args.until) or bool(args.reason) != bool(args.until):
        raise CarrelError(
            "usage", "Give --reason and --until, or --end.", status=422, hint="carrel image exempt --help"
        )
    scan_id = _scan_of(context, args.image)["id"]
    scans = context.client.image_scans
    changed = (
        scans.end_exemption(scan_id)
        if args.end
        else scans.exempt(scan_id, reason=args.reason, until=args.until)
    )
    context.answer(changed, lambda: _print(changed))
    return 0


def _image(parser: Arguments) -> None:
    parser.add_argument("image", metavar="IMAGE", help="name in the catalogue, env:NAME or reference")


def _severity(parser: Arguments, help_: str) -> None:
    parser.add_argument("--severity", choices=SEVERITIES, help=help_)


def _search(parser: Arguments, help_: str) -> None:
    parser.add_argument("--search", metavar="TEXT", help=help_)
    parser.add_argument("--limit", type=reading(whole_number), default=100, help="maximum number; 0 for all")


def _scan_of(context: Context, image: str) -> models.ImageScanView:
    """The scan of an image. Raises: CarrelError if there is none."""
    items = context.client.image_scans.list(image=[image])["items"]
    if not items:
        raise CarrelError(
            "image_scan.not_found",
            f"{image} has not been scanned.",
            status=404,
            hint="See `carrel image scans`; a superadmin can scan it with `carrel image scan`.",
        )
    return items[0]


def _pages(args: argparse.Namespace, page: Any) -> dict[str, Any]:
    def of_list(*, sort: str | None, **query: Any) -> Any:
        return page(**query)

    return listed(argparse.Namespace(**vars(args), sort=None), of_list)


def _ended(context: Context, scan: models.ImageScanView) -> models.ImageScanView:
    """The scan once it has ended."""
    pause_s = _FASTEST_S
    with ProgressLine(after_s=1.0) as line:
        while scan["ended_at"] is None:
            line.update(f"{scan['reference']} is {scan['state']}", None)
            time.sleep(pause_s)
            pause_s = min(pause_s * 1.5, _SLOWEST_S)
            scan = context.client.image_scans.show(scan["id"])
    return scan


def _print_scans(scans: list[models.ImageScanView]) -> None:
    titles = ("PACKAGES", *(one.upper() for one in SEVERITIES), "SCANNED", "PROBLEM")
    rows = [
        [
            one["reference"],
            one["state"],
            one["effect"],
            *([str(one["packages"]), *map(str, _counts(one))] if one["scanned_at"] else [""] * 6),
            local_time(one["scanned_at"]) + (" (outdated)" if one["outdated"] else ""),
            one["problem"] or "",
        ]
        for one in scans
    ]
    columns = [Column("IMAGE"), Column("SCAN", _STATES), Column("RULE", _EFFECTS)]
    print_table([*columns, *(Column(title) for title in titles)], rows)


def _print(scan: models.ImageScanView) -> None:
    exemption = scan["exemption"]
    counts = ", ".join(
        f"{count} {name}" for name, count in zip(SEVERITIES, _counts(scan), strict=True) if count
    )
    facts = [
        ("image", scan["reference"]),
        ("scan", scan["state"]),
        ("problem", scan["problem"] or ""),
        ("scanned", local_time(scan["scanned_at"])),
        ("scanner", scan["scanner"]),
        (
            "target",
            scan["target"] + (" (outdated: the catalogue has another digest)" if scan["outdated"] else ""),
        ),
        ("packages", str(scan["packages"]) if scan["scanned_at"] else ""),
        ("vulnerabilities", (counts or "none") if scan["scanned_at"] else ""),
        ("rule", scan["effect"]),
    ]
    if exemption:
        facts.append(
            ("exempt until", f"{local_time(exemption['until'])}, by {exemption['by']}: {exemption['reason']}")
        )
    print_facts(facts)


def _counts(scan: models.ImageScanView) -> list[int]:
    counts = scan["counts"]
    return [counts["critical"], counts["high"], counts["medium"], counts["low"], counts["unknown"]]
