"""Commands for pushes of environments to registries."""

from __future__ import annotations

import argparse
import time
from fnmatch import fnmatchcase

from carrel_client.cli.context import Context
from carrel_client.cli.environments import parts
from carrel_client.cli.output import Column, print_table, print_text
from carrel_client.cli.parser import Arguments, reading, whole_number
from carrel_client.cli.people import listed
from carrel_client.cli.progress import ProgressLine
from carrel_client.cli.times import local_time
from carrel_client.errors import CarrelError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from carrel_client import models

_STATES = {"done": "green", "failed": "red"}
_EVERY_S = 0.3


def push_arguments(parser: Arguments) -> None:
    parser.add_argument(
        "environment",
        metavar="ENVIRONMENT[:VERSION]",
        help="environment and version (default: what sessions start from)",
    )
    parser.add_argument(
        "--registry",
        dest="push_registry",
        metavar="REGISTRY",
        help="name or id (default: the only one to which you may push; all for --cancel and --list)",
    )
    parser.add_argument(
        "--as",
        dest="target",
        metavar="REPOSITORY[:TAG]",
        help="repository, without the registry's namespace, and tag (default: named after environment "
        "and version, or the first repository that is permitted)",
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--wait", action="store_true", help="wait until it is pushed; exit code 1 if it fails")
    what.add_argument(
        "--cancel",
        action="store_true",
        help="cancel the pushes that have not ended, with --registry or --as only those to it",
    )
    what.add_argument("--list", action="store_true", help="list the registries to which you may push it")
    parser.explain(
        "Push a version of an environment to a registry that permits it, with the registry's credentials. A tag that\n"
        "is there is replaced. An interrupted push goes on by itself."
    )
    parser.example(
        "carrel environment push torch --list",
        "carrel environment push torch:2 --registry ours --as team/torch:2026-11 --wait",
        "carrel environment push torch --cancel",
        "carrel environment push torch --registry ours --cancel",
    )


def push(args: argparse.Namespace, context: Context) -> int:
    """Push a version of an environment to a registry."""
    name, version = parts(args.environment)
    environments = context.client.environments
    if args.list or args.cancel:
        (_list_targets if args.list else _cancel)(args, context)
        return 0
    version = version or environments.show(name)["default_version"]
    if version is None:
        raise CarrelError("environment.no_version", f"{name} has no version that is ready.", status=404)
    repository, _, tag = (args.target or "").partition(":")
    named = {"registry": args.push_registry, "repository": repository, "tag": tag}
    one = environments.push(name, version, **{key: value for key, value in named.items() if value})
    if args.wait:
        one = _ended(context, one)
    context.answer(one, lambda: print_text(_sentence(one)))
    return 1 if one["state"] in ("failed", "cancelled") else 0


def pushes_arguments(parser: Arguments) -> None:
    parser.add_argument("environment", metavar="ENVIRONMENT", help="id or name of an environment")
    parser.add_argument("--limit", type=reading(whole_number), default=100, help="maximum number; 0 for all")
    parser.watches("environment")
    parser.example("carrel environment pushes torch", "carrel environment pushes torch -o json")


def pushes(args: argparse.Namespace, context: Context) -> int:
    """List pushes of an environment."""
    response = _pages(context, args.environment, limit=args.limit)
    columns = [Column("STATE", _STATES)]
    columns += [Column(title) for title in ("VERSION", "REFERENCE", "DIGEST", "BY", "REQUESTED", "PROBLEM")]
    rows = [
        [
            one["state"],
            one["version"],
            one["reference"],
            one["digest"] or "",
            one["requested_by"]["email"] if one["requested_by"] else "",
            local_time(one["created_at"]),
            one["problem"] or "",
        ]
        for one in response["items"]
    ]
    context.answer(response, lambda: print_table(columns, rows))
    return 0


def _pages(context: Context, name: str, *, limit: int) -> dict[str, Any]:
    def page(*, sort: str | None, q: str | None, **query: Any) -> Any:
        return context.client.environments.pushes(name, **query)

    return listed(argparse.Namespace(sort=None, search=None, limit=limit), page)


def _list_targets(args: argparse.Namespace, context: Context) -> None:
    name, _ = parts(args.environment)
    repository = (args.target or "").partition(":")[0]
    response = context.client.environments.push_targets(name)
    response["items"] = [
        one
        for one in response["items"]
        if args.push_registry in (None, one["id"], one["name"])
        and (not repository or any(fnmatchcase(repository, glob) for glob in one["repositories"]))
    ]
    context.answer(response, lambda: _print_targets(response))


def _cancel(args: argparse.Namespace, context: Context) -> None:
    name, version = parts(args.environment)
    environments = context.client.environments
    prefixes: dict[str, str] = {}
    if args.target:
        prefixes = {one["id"]: one["prefix"] for one in environments.push_targets(name)["items"]}
    cancelled = []
    for one in _pages(context, name, limit=0)["items"]:
        if one["ended_at"] or version not in (None, one["version"]) or not _is_chosen(args, one, prefixes):
            continue
        try:
            cancelled.append(environments.cancel_push(name, one["id"]))
        except CarrelError as error:
            if error.code != "push.ended":
                raise
    if not cancelled:
        raise CarrelError("push.ended", f"No such version of {name} is being pushed.", status=409)
    context.answer(
        {"items": cancelled},
        lambda: print_text("\n".join(f"{one['reference']} is being canceled" for one in cancelled)),
    )


def _is_chosen(args: argparse.Namespace, one: models.PushView, prefixes: Mapping[str, str]) -> bool:
    """True if --registry and --as are its own, or not given. prefixes: of references, by registry."""
    registry = one["registry"]
    names = (registry["id"], registry["name"]) if registry else ()
    if args.push_registry and args.push_registry not in names:
        return False
    repository, _, tag = (args.target or "").partition(":")
    pushed, _, pushed_tag = one["reference"].rpartition(":")
    prefix = prefixes.get(registry["id"]) if registry else None
    there = pushed == f"{prefix}/{repository}" if prefix else pushed.endswith(f"/{repository}")
    return not repository or (there and tag in ("", pushed_tag))


def _ended(context: Context, one: models.PushView) -> models.PushView:
    """The push once it has ended, with its progress on stderr."""
    with ProgressLine() as line:
        while one["ended_at"] is None:
            line.update(one["problem"] or ("pushing" if one["started_at"] else "waiting"), one["progress"])
            time.sleep(_EVERY_S)
            one = context.client.environments.show_push(one["environment_id"], one["id"])
    return one


def _sentence(one: models.PushView) -> str:
    what = f"{one['environment']}:{one['version']}"
    match one["state"]:
        case "done":
            return f"{what} is pushed as {one['reference']}\n{one['pinned']}"
        case "failed":
            return f"{what} was not pushed: {one['problem']}"
        case "cancelled":
            return f"The push to {one['reference']} was canceled"
        case _:
            return f"{what} is being pushed to {one['reference']}"


def _print_targets(response: models.PushTargetList) -> None:
    if response["refusal"]:
        print_text(response["refusal"])
    rows = [
        [one["name"], ", ".join(f"{one['prefix']}/{glob}" for glob in one["repositories"]), one["repository"]]
        for one in response["items"]
    ]
    print_table([Column(title) for title in ("REGISTRY", "PERMITTED", "DEFAULT")], rows)
