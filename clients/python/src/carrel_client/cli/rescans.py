"""Scans of all registries or all images, for `carrel registry scan --all` and `carrel image scan --all`."""

from __future__ import annotations

import argparse
import time

from carrel_client.cli.context import Context
from carrel_client.cli.output import print_facts
from carrel_client.cli.progress import ProgressLine
from carrel_client.cli.times import local_time
from carrel_client.errors import CarrelError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from carrel_client import models

_FASTEST_S, _SLOWEST_S = 0.2, 2.0


def chosen(args: argparse.Namespace, one: str | None, noun: str) -> bool:
    """True for --all. Raises: CarrelError unless one or all are named."""
    if args.all == (one is not None) or (args.all and getattr(args, "list", False)):
        raise CarrelError(
            "usage", f"Name the {noun}, or give --all.", status=422, hint=f"carrel {noun} scan --help"
        )
    return bool(args.all)


def scan(args: argparse.Namespace, context: Context, kind: Literal["images", "registries"]) -> int:
    """Scan everything of a kind; 1 if a scan failed or was cancelled."""
    rescans = context.client.rescans
    shown = rescans.cancel(kind) if args.cancel else rescans.create(kind=kind)
    if not args.no_wait and not args.cancel:
        shown = _ended(context, shown)
    context.answer(shown, lambda: _print(shown))
    return 1 if shown["ended_at"] and (shown["failed"] or shown["cancelled"]) else 0


def _ended(context: Context, shown: models.RescanView) -> models.RescanView:
    """The scan once it has ended; its progress is on stderr meanwhile."""
    pause_s = _FASTEST_S
    with ProgressLine(after_s=1.0) as line:
        while shown["ended_at"] is None:
            total = shown["total"]
            ended = total - shown["waiting"] - shown["running"]
            line.update(f"Scanned {ended} of {total} {shown['kind']}", ended / total if total else None)
            time.sleep(pause_s)
            pause_s = min(pause_s * 1.5, _SLOWEST_S)
            items = context.client.rescans.list()["items"]
            shown = next((one for one in items if one["kind"] == shown["kind"]), shown)
    return shown


def _print(shown: models.RescanView) -> None:
    counts = ", ".join(
        f"{count} {name}"
        for name, count in (
            ("done", shown["done"]),
            ("failed", shown["failed"]),
            ("cancelled", shown["cancelled"]),
            ("running", shown["running"]),
            ("waiting", shown["waiting"]),
        )
        if count
    )
    print_facts(
        [
            (shown["kind"], str(shown["total"])),
            ("scans", counts or "none"),
            ("problem", shown["problem"] or ""),
            ("requested", local_time(shown["requested_at"])),
            ("ended", local_time(shown["ended_at"])),
        ]
    )
