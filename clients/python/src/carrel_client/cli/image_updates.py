"""Commands for updates of images: watch tags, and take or skip their new digests."""

from __future__ import annotations

import argparse

from carrel_client.cli.context import Context
from carrel_client.cli.output import counted, print_line
from carrel_client.cli.parser import Arguments

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    from carrel_client import models

    Rule = Literal["off", "offer", "take"]

RULES = ("off", "offer", "take")
_LOOKS = {
    "unchecked": "not checked yet",
    "current": "current",
    "available": "update available",
    "taking": "taking an update",
    "skipped": "update skipped",
    "missing": "the tag is gone",
    "failed": "check failed",
}


def watch_arguments(parser: Arguments) -> None:
    parser.add_argument(
        "catalogue_images", metavar="IMAGE", nargs="+", help="its name, reference, alias, family or id"
    )
    parser.add_argument(
        "--rule",
        choices=RULES,
        help="off: do not watch; offer: administrators take or skip updates; take: in the daily hours, without asking. "
        "Default: as it is, offer for an image that is not watched",
    )
    pull_arguments(parser)
    parser.explain(
        "Watch the tags of images for new digests, checked daily. Sessions of a watched image start from the digest\n"
        "that was taken last, whatever its tag means by now; running ones keep theirs. Superadministrators only."
    )
    parser.example(
        "carrel image watch registry.example.org/ml/pytorch:2.4",
        "carrel image watch pytorch tensorflow --rule take --pull-to-group gpu",
        "carrel image watch pytorch --rule off",
    )


def pull_arguments(parser: Arguments) -> None:
    """The options that say where updates are pulled."""
    for option, dest, what in (
        ("--pull-to", "pull_nodes", "this node"),
        ("--pull-to-group", "pull_groups", "the nodes of this resource group"),
    ):
        parser.add_argument(
            option,
            dest=dest,
            metavar="NAME",
            action="append",
            help=f"pull updates to {what}; repeatable; '' for none. Without nodes and groups: to the nodes that have "
            "the present image",
        )


def watch(args: argparse.Namespace, context: Context) -> int:
    """Watch images for updates."""
    changes: dict[str, Any] = {}
    for field in ("pull_nodes", "pull_groups"):
        if getattr(args, field) is not None:
            changes[field] = [one for one in getattr(args, field) if one]
    images = [_watch(context, name, args.rule, changes) for name in args.catalogue_images]

    def show() -> None:
        for image in images:
            print_line(f"{image['name']}: {watched(image) or 'not watched'}")

    context.answer(images[0] if len(images) == 1 else {"items": images}, show)
    return 0


def _watch(context: Context, name: str, rule: Rule | None, changes: dict[str, Any]) -> models.ImageDetail:
    """The image afterwards. rule: None: one that is watched keeps its rule."""
    images = context.client.images
    if rule is None:
        image = images.show(name)
        if image["update"] is not None:
            return images.update(name, **changes) if changes else image
    return images.update(name, **changes, watch=rule or "offer")


def take_arguments(parser: Arguments) -> None:
    _chosen(parser, "only if this is the digest that is available; default: the one that is")
    parser.explain(
        "Take the available update of an image: sessions start from its digest, and nodes pull it. Running sessions\n"
        "keep what they have. Superadministrators only."
    )
    parser.example("carrel image take pytorch", "carrel image ls --state update")


def take(args: argparse.Namespace, context: Context) -> int:
    """Take an update of an image."""
    image = context.client.image_updates.take(**_choice(args))
    context.answer(image, lambda: print_line(f"{image['name']}: {watched(image)}"))
    return 0


def skip_arguments(parser: Arguments) -> None:
    _chosen(parser, "only if this is the digest that is available; default: the one that is")
    parser.explain("Do not offer the available update of an image again. Its next one is offered.")
    parser.example("carrel image skip pytorch")


def skip(args: argparse.Namespace, context: Context) -> int:
    """Skip an update of an image."""
    image = context.client.image_updates.skip(**_choice(args))
    context.answer(image, lambda: print_line(f"{image['name']}: {watched(image)}"))
    return 0


def check_arguments(parser: Arguments) -> None:
    parser.add_argument(
        "catalogue_image", metavar="IMAGE", nargs="?", help="default: all images that are watched"
    )
    parser.explain(
        "Check the tags of watched images now, whatever the daily hours; what is new is offered. Superadministrators\n"
        "only."
    )
    parser.example("carrel image check", "carrel image check pytorch")


def check(args: argparse.Namespace, context: Context) -> int:
    """Check watched images for updates."""
    chosen = {"image": args.catalogue_image} if args.catalogue_image else {}
    begun = context.client.image_updates.check(**chosen)
    context.answer(begun, lambda: print_line(f"{counted(begun['images'], 'image')} will be checked soon"))
    return 0


def watched(image: models.ImageView | models.ImageDetail) -> str:
    """The state of its watch in words; "" if it is not watched."""
    update = image["update"]
    if update is None:
        return ""
    problem = f" ({update['problem']})" if update["problem"] else ""
    return f"{_LOOKS[update['state']]}{problem}"


def _chosen(parser: Arguments, what: str) -> None:
    parser.add_argument("catalogue_image", metavar="IMAGE", help="its name, reference, alias, family or id")
    parser.add_argument("--digest", metavar="DIGEST", help=what)


def _choice(args: argparse.Namespace) -> dict[str, str]:
    digest = {"digest": args.digest} if args.digest else {}
    return {"image": args.catalogue_image, **digest}
