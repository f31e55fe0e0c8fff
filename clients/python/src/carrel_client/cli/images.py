"""Commands for the catalogue of images."""

from __future__ import annotations

import argparse
from functools import partial

from carrel_client.cli.context import Context
from carrel_client.cli.image_updates import RULES, pull_arguments, watched
from carrel_client.cli.output import Column, print_facts, print_table
from carrel_client.cli.parser import Arguments, reading
from carrel_client.cli.people import given, list_arguments, listed
from carrel_client.cli.times import local_time
from carrel_client.errors import CarrelError
from carrel_client.slots import parse_slot, slots_text
from carrel_client.units import format_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from carrel_client import models

STATES = ("enabled", "disabled", "hidden", "deprecated", "limited", "watched", "update")
_LOOKS = {"disabled": "red", "deprecated": "yellow"}


def ls_arguments(parser: Arguments) -> None:
    list_arguments(parser, "name", "version")
    parser.add_argument("--family", help="only images of this family, such as python")
    parser.add_argument("--registry", metavar="ID", help="only images of this registry, by its id")
    parser.add_argument("--state", choices=STATES, help="only images in this state")
    parser.add_argument(
        "--offered",
        action="store_true",
        help="for administrators too, only images that they can start and that are not hidden",
    )
    parser.explain(
        "List the images of the catalogue that you may use; for superadmins all. Any other image works too, by its\n"
        "reference, where your administrators permit its registry."
    )
    parser.watches("image")
    parser.example(
        "carrel image ls",
        "carrel image ls --family pytorch --sort=-version",
        "carrel image ls --state update",
        "carrel image ls --state deprecated -o json | jq -r '.items[].name'",
    )


def ls(args: argparse.Namespace, context: Context) -> int:
    """List images."""
    filters = given(args, "family", "registry", "state")
    response = listed(args, partial(context.client.images.list, offered=args.offered, **filters))
    titles = ("NAME", "FAMILY", "VERSION", "HERE", "SIZE", "LEAST", "APPS", "TITLE")
    rows = [
        [
            image["name"],
            image["family"],
            image["version"],
            "yes" if image["present"] else "no",
            format_size(image["size_bytes"]) if image["size_bytes"] else "",
            _least(image),
            ", ".join(app["name"] for app in image["apps"]),
            image["title"],
            _state(image),
            watched(image) if image["update"] and image["update"]["state"] != "current" else "",
        ]
        for image in response["items"]
    ]
    columns = [*(Column(title) for title in titles), Column("STATE", _LOOKS)]
    if any(image["update"] for image in response["items"]):
        columns.append(Column("UPDATE"))
    rows = [row[: len(columns)] for row in rows]
    context.answer(response, lambda: print_table(columns, rows))
    return 0


def show_arguments(parser: Arguments) -> None:
    parser.add_argument("catalogue_image", metavar="IMAGE", help="its name, reference, alias, family or id")
    parser.explain(
        "Show an image of the catalogue: what it contains and needs, and for superadmins its settings."
    )
    parser.example(
        "carrel image show pytorch", "carrel image show registry.example.org/ml/pytorch:2.4 -o yaml"
    )


def show(args: argparse.Namespace, context: Context) -> int:
    """Show one image."""
    image = context.client.images.show(args.catalogue_image)
    context.answer(image, lambda: _print(image))
    return 0


def edit_arguments(parser: Arguments) -> None:
    parser.add_argument("catalogue_image", metavar="IMAGE", help="its name, reference, alias, family or id")
    enabled = parser.add_mutually_exclusive_group()
    enabled.add_argument("--enable", action="store_true", help="sessions may use it")
    enabled.add_argument(
        "--disable", action="store_true", help="sessions may not use it; running ones continue"
    )
    enabled.add_argument("--as-registry", action="store_true", help="enabled as its registry's images are")
    hidden = parser.add_mutually_exclusive_group()
    hidden.add_argument("--hide", action="store_true", help="omit it from lists; it starts by name")
    hidden.add_argument("--unhide", action="store_true", help="list it")
    deprecated = parser.add_mutually_exclusive_group()
    deprecated.add_argument("--deprecate", action="store_true", help="warn whoever starts it")
    deprecated.add_argument("--undeprecate", action="store_true", help="warn nobody")
    parser.add_argument(
        "--successor", metavar="IMAGE", help="to use instead of a deprecated one; '' for none"
    )
    preferred = parser.add_mutually_exclusive_group()
    preferred.add_argument(
        "--default", action="store_true", help="the name of its family means this version, and no other"
    )
    preferred.add_argument("--no-default", action="store_true", help="the name means the newest version")
    for option, dest, what in (
        ("--alias", "aliases", "also call it by this name"),
        ("--for-domain", "for_domains", "only for this domain"),
        ("--for-project", "for_projects", "only for this project"),
        ("--for-group", "for_groups", "only in this resource group"),
    ):
        parser.add_argument(
            option, dest=dest, metavar="NAME", action="append", help=f"{what}; repeatable; '' for none"
        )
    parser.add_argument(
        "--watch", dest="rule", choices=RULES, help="the rule for updates of its tag, as carrel image watch"
    )
    pull_arguments(parser)
    for option, dest, what in (
        ("--min-slot", "min_slots", "least amount of a session, instead of the label's"),
        ("--recommended-slot", "recommended_slots", "amount that the launcher begins with"),
    ):
        parser.add_argument(
            option,
            dest=dest,
            metavar="SLOT=AMOUNT",
            action="append",
            type=reading(_slot),
            help=f"{what}; repeatable; '' for none",
        )
    parser.explain(
        "Change the settings of an image. Scans keep them. A list that is given replaces the present one; domains and\n"
        "projects both permit: without either, all may use it."
    )
    parser.example(
        "carrel image edit registry.example.org/ml/pytorch:2.4 --default --alias torch",
        "carrel image edit pytorch --recommended-slot cpu=4 --recommended-slot mem=16g",
        "carrel image edit tf1 --deprecate --successor tensorflow",
        "carrel image edit licensed --for-project vision --for-group gpu",
        "carrel image edit licensed --for-project=",
    )


def edit(args: argparse.Namespace, context: Context) -> int:
    """Change the settings of an image."""
    changes = _changes(args)
    if not changes:
        raise CarrelError("usage", "Nothing to change.", status=422, hint="carrel image edit --help")
    image = context.client.images.update(args.catalogue_image, **changes)
    context.answer(image, lambda: _print(image))
    return 0


_SWITCHES: tuple[tuple[str, str, bool | None], ...] = (
    ("enable", "enabled", True),
    ("disable", "enabled", False),
    ("as_registry", "enabled", None),
    ("hide", "hidden", True),
    ("unhide", "hidden", False),
    ("deprecate", "deprecated", True),
    ("undeprecate", "deprecated", False),
    ("default", "preferred", True),
    ("no_default", "preferred", False),
)
_LISTS = {"aliases": "aliases", "for_domains": "domains", "for_projects": "projects", "for_groups": "groups"}
_LISTS |= {"pull_groups": "pull_groups", "pull_nodes": "pull_nodes"}


def _changes(args: argparse.Namespace) -> dict[str, Any]:
    changes: dict[str, Any] = {field: value for name, field, value in _SWITCHES if getattr(args, name)}
    if args.rule is not None:
        changes["watch"] = args.rule
    if args.successor is not None:
        changes["successor"] = args.successor or None
    for name, field in _LISTS.items():
        if getattr(args, name) is not None:
            changes[field] = [one for one in getattr(args, name) if one]
    for field in ("min_slots", "recommended_slots"):
        if getattr(args, field) is not None:
            changes[field] = dict(pair for pair in getattr(args, field) if pair)
    return changes


def _slot(text: str) -> tuple[str, int] | None:
    """An amount; None for "", which removes all. Raises: ValueError."""
    return parse_slot(text) if text else None


def _least(image: models.ImageView) -> str:
    amounts: Any = image["min_slots"]
    return slots_text(amounts)


def _state(image: models.ImageView) -> str:
    if not image["enabled"]:
        return "disabled"
    if image["deprecated"]:
        return "deprecated"
    return "hidden" if image["hidden"] else ""


def _enabled(image: models.ImageDetail) -> str:
    settings = image["settings"]
    by_registry = settings is not None and settings["enabled"] is None and image["registry_id"]
    return f"{'yes' if image['enabled'] else 'no'}{', as its registry' if by_registry else ''}"


def _watch(image: models.ImageDetail) -> list[tuple[str, str]]:
    update, settings = image["update"], image["settings"]
    if update is None or settings is None:
        return []
    where = [*settings["pull_nodes"], *settings["pull_groups"]]
    available = f"{update['available']}, since {local_time(update['available_since'])}"
    return [
        ("watched", f"{update['rule']}: {watched(image)}"),
        ("available", available if update["available"] else ""),
        ("skipped", update["skipped"] or ""),
        ("checked", local_time(update["checked_at"])),
        ("updated", local_time(update["taken_at"])),
        ("updates pulled to", ", ".join(one["name"] for one in where)),
    ]


def _cuda(image: models.ImageDetail) -> list[tuple[str, str]]:
    """What it requires of drivers, without alternatives, and where it runs."""
    nodes = image["cuda_nodes"]
    if nodes is None:
        return []
    requires = ", ".join(line.partition(" ")[0] for line in (image["requires_cuda"] or "").splitlines())
    return [("requires", requires), ("NVIDIA nodes", f"runs on {nodes['able']} of {nodes['total']}")]


def _contents(image: models.ImageDetail) -> str:
    """With the package databases that tell it; the rest is of labels and environment."""
    sources = {name: f" ({source})" for name, source in image["contents_from"].items() if source != "image"}
    return ", ".join(
        f"{name} {version}{sources.get(name, '')}" for name, version in image["contents"].items()
    )


def _print(image: models.ImageDetail) -> None:
    settings = image["settings"]
    print_facts(
        [
            ("name", image["name"]),
            ("id", image["id"]),
            ("title", image["title"]),
            ("description", image["description"]),
            ("family", image["family"]),
            ("version", image["version"] + (", the default" if image["preferred"] else "")),
            *_watch(image),
            ("aliases", ", ".join(image["aliases"])),
            ("reference", image["reference"]),
            ("digest", image["digest"] or ""),
            ("architectures", ", ".join(image["architectures"])),
            ("size", format_size(image["size_bytes"]) if image["size_bytes"] else ""),
            ("layers", str(image["layers"] or "")),
            ("built", local_time(image["built_at"])),
            ("scanned", local_time(image["scanned_at"])),
            ("contains", _contents(image)),
            ("packages problem", image["packages_problem"] or ""),
            ("accelerators", ", ".join(image["accelerators"])),
            *_cuda(image),
            ("licences", image["licenses"]),
            ("apps", ", ".join(app["name"] for app in image["apps"])),
            ("least", _least(image)),
            ("recommended", slots_text(image["recommended_slots"])),
            ("enabled", _enabled(image)),
            ("hidden", "yes" if image["hidden"] else ""),
            ("deprecated", deprecation(image["successor"]) if image["deprecated"] else ""),
            *(
                (f"only for {kind}", ", ".join(one["name"] for one in scopes))
                for kind, scopes in (
                    ("domains", settings["domains"] if settings else []),
                    ("projects", settings["projects"] if settings else []),
                    ("groups", settings["groups"] if settings else []),
                )
            ),
            *((f"label {name}", text) for name, text in image["labels"].items()),
        ]
    )


def deprecation(successor: str | None) -> str:
    """What to do instead of using a deprecated image."""
    return f"use {successor} instead" if successor else "no successor is named"
