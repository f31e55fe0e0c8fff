"""Commands for environments: images of one's own."""

from __future__ import annotations

import argparse
import time

from carrel_client.cli.asking import agreed, removal_confirmed, yes_argument
from carrel_client.cli.context import Context
from carrel_client.cli.output import Column, counted, print_facts, print_line, print_table, state_column
from carrel_client.cli.parser import Arguments
from carrel_client.cli.people import each, given, list_arguments, listed
from carrel_client.cli.progress import ProgressLine
from carrel_client.cli.times import local_time
from carrel_client.errors import CarrelError
from carrel_client.units import format_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from carrel_client import models

_REF = "id or name of an environment"
_VERSION = "id or name of an environment, with :VERSION for one version"
_EVERY_S = 0.3
_PHASES = {
    "copy": "copying its files",
    "read": "leaving out caches and secrets",
    "commit": "writing the image",
}
_KINDS = {
    "temporary": "temporary files",
    "caches": "caches",
    "credentials": "credentials",
    "histories": "histories",
}


def save_arguments(parser: Arguments) -> None:
    parser.add_argument("id", metavar="ID", help="id, unique id prefix, or name of a session of yours")
    parser.add_argument(
        "new_name",
        metavar="NAME[:VERSION]",
        help="environment, created if there is none (default version: the next number)",
    )
    parser.add_argument("--note", metavar="TEXT", help="what this version has")
    parser.add_argument("--project", metavar="PROJECT", help="it belongs to this project instead of you")
    parser.add_argument(
        "--dry-run", action="store_true", help="print what is kept and what is left out; save nothing"
    )
    parser.add_argument("--wait", action="store_true", help="wait until it is saved; exit code 1 if it fails")
    parser.explain(
        "Save the main container of a running session as an environment. What its folders have, what the session was\n"
        "given (variables, dotfiles), credentials, caches and temporary files are in no layer of the image."
    )
    parser.example(
        "carrel session save train-3 torch --dry-run",
        "carrel session save train-3 torch --note 'with flash-attention' --wait",
        "carrel session create --image env:torch",
    )


def save(args: argparse.Namespace, context: Context) -> int:
    """Save a running session as an environment."""
    if args.dry_run:
        shown = context.client.sessions.save_preview(args.id)
        context.answer(shown, lambda: _print_preview(shown))
        return 0
    name, version = parts(args.new_name)
    more: dict[str, Any] = {"version": version} if version else {}
    made = context.client.sessions.save(args.id, name=name, **more, **given(args, "note", "project"))
    latest = made["versions"][0]
    if args.wait:
        latest = _made(context, made["id"], latest["id"])
    context.answer(latest, lambda: print_line(sentence(latest)))
    return 0 if latest["state"] in ("waiting", "running", "ready") else 1


def _made(context: Context, environment: str, version: str) -> models.VersionView:
    """The version once it is made or not, with its progress on stderr."""
    with ProgressLine() as line:
        while True:
            versions = context.client.environments.show(environment)["versions"]
            one = next((one for one in versions if one["id"] == version), None)
            if one is None:
                raise CarrelError("environment.not_found", "The version was deleted meanwhile.", status=404)
            if one["state"] not in ("waiting", "running"):
                return one
            progress = one["progress"]
            text = one["problem"] or (_PHASES.get(progress["phase"], "saving") if progress else "waiting")
            line.update(text, progress["fraction"] if progress else None)
            time.sleep(_EVERY_S)


def sentence(one: models.VersionView) -> str:
    """How far it is, or how it ended."""
    name = f"{one['environment']}:{one['name']}"
    made = "built" if one["recipe"] else "saved"
    match one["state"]:
        case "ready":
            added = format_size(one["added_bytes"] or 0)
            return f"{name} is {made}: {format_size(one['size_bytes'] or 0)}, {added} more than {one['base']}"
        case "failed":
            return f"{name} was not {made}: {one['problem']}"
        case "cancelled":
            return f"{name} was canceled"
        case _:
            return f"{name} is being {made}"


def _print_preview(one: models.SavePreview) -> None:
    changed = one["changed_bytes"]
    left_out = [
        (f"the content of {counted(len(one['folders']), 'folder')}", one["folders"]),
        (counted(len(one["variables"]), "variable"), one["variables"]),
        (counted(len(one["files"]), "initial file"), one["files"]),
        *((_KINDS[part["kind"]], part["paths"]) for part in one["left_out"]),
    ]
    print_facts(
        [
            ("base", one["base"]),
            ("changed", "not measured yet" if changed is None else format_size(changed)),
            ("engine", one["engine"] or ""),
            *([("not possible", one["refusal"])] if one["refusal"] else []),
            ("kept", "all other files that the session has added or changed"),
            *(("left out", f"{what}: {', '.join(parts)}") for what, parts in left_out if parts),
        ]
    )


def ls_arguments(parser: Arguments) -> None:
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--mine", dest="owner", action="store_const", const="me", default="usable", help="only yours"
    )
    which.add_argument(
        "--everyone", dest="owner", action="store_const", const="all", help="all that you may see"
    )
    parser.add_argument("--project", metavar="PROJECT", help="only those that belong to this project")
    list_arguments(parser, "name", "created_at", "updated_at")
    parser.watches("environment")
    parser.explain("List environments: yours, those of your projects, and those shared with you.")
    parser.example("carrel environment ls", "carrel environment ls --mine -o json | jq -r '.items[].image'")


def ls(args: argparse.Namespace, context: Context) -> int:
    """List environments."""

    def page(**query: Any) -> models.EnvironmentList:
        return context.client.environments.list(owner=args.owner, project=args.project, **query)

    response = listed(args, page)
    titles = ("NAME", "VERSION", "VERSIONS", "SIZE", "OWNER", "IMAGE", "DESCRIPTION")
    rows = [
        [
            one["name"],
            one["default_version"] or "",
            str(len(one["versions"])),
            format_size(one["added_bytes"]),
            _owner(one),
            one["image"],
            one["description"],
        ]
        for one in response["items"]
    ]
    context.answer(response, lambda: print_table([Column(title) for title in titles], rows))
    return 0


def quota_arguments(parser: Arguments) -> None:
    parser.explain("Show how much your environments take, and those of your projects, of how much.")
    parser.example("carrel environment quota", "carrel environment quota -o json")


def quota(args: argparse.Namespace, context: Context) -> int:
    """Show quotas of environments."""
    response = context.client.environments.quotas()
    rows = [
        [
            f"project {one['project']['name']}" if one["project"] else "you",
            format_size(one["used_bytes"]),
            "unlimited" if one["limit_bytes"] is None else format_size(one["limit_bytes"]),
        ]
        for one in response["items"]
    ]
    context.answer(
        response, lambda: print_table([Column(title) for title in ("OWNER", "USED", "LIMIT")], rows)
    )
    return 0


def show_arguments(parser: Arguments) -> None:
    parser.add_argument("environment", metavar="ENVIRONMENT", help=_REF)
    parser.watches("environment")
    parser.example("carrel environment show torch")


def show(args: argparse.Namespace, context: Context) -> int:
    """Show one environment with its versions."""
    one = context.client.environments.show(args.environment)
    context.answer(one, lambda: _print(one))
    return 0


def _print(one: models.EnvironmentView) -> None:
    print_facts(
        [
            ("id", one["id"]),
            ("name", one["name"]),
            ("description", one["description"]),
            ("owner", _owner(one)),
            ("shared with", counted(one["shared_with"], "user or project", "users and projects")),
            ("starts from", one["default_version"] or "no version is ready"),
            ("image", one["image"]),
        ]
    )
    columns = [Column("VERSION"), state_column()]
    columns += [Column(title) for title in ("ADDED", "SIZE", "BASE", "ENGINE", "USED BY", "CREATED", "NOTE")]
    rows = [
        [
            version["name"],
            version["state"],
            format_size(version["added_bytes"]) if version["added_bytes"] is not None else "",
            format_size(version["size_bytes"]) if version["size_bytes"] is not None else "",
            version["base"],
            version["engine"],
            str(version["used_by"] or ""),
            local_time(version["created_at"]),
            version["problem"] or version["note"],
        ]
        for version in one["versions"]
    ]
    print_table(columns, rows)


def edit_arguments(parser: Arguments) -> None:
    parser.add_argument("environment", metavar="ENVIRONMENT", help=_VERSION)
    parser.add_argument("--name", help="new name")
    parser.add_argument("--description", metavar="TEXT", help="new description")
    parser.add_argument(
        "--default", dest="default_version", metavar="VERSION", help="version that sessions start from"
    )
    parser.add_argument("--note", metavar="TEXT", help="new note of the version")
    parser.explain("Change an environment, or the note of a version. Nothing else of a version changes.")
    parser.example(
        "carrel environment edit torch --default 2",
        "carrel environment edit torch:2 --note 'with flash-attention'",
    )


def edit(args: argparse.Namespace, context: Context) -> int:
    """Change an environment."""
    name, version = parts(args.environment)
    fields = given(args, "name", "description", "default_version")
    if args.note is not None:
        if not version:
            raise CarrelError(
                "client.no_version", "A note belongs to a version.", status=422, hint=f"Give {name}:VERSION."
            )
        changed = context.client.environments.annotate(name, version, note=args.note)
    if fields or args.note is None:
        changed = context.client.environments.update(name, **fields)
    context.answer(changed, lambda: _print(changed))
    return 0


def share_arguments(parser: Arguments) -> None:
    parser.add_argument("environment", metavar="ENVIRONMENT", help=_REF)
    recipient = parser.add_mutually_exclusive_group(required=True)
    recipient.add_argument("--with", dest="user", metavar="E-MAIL", help="a user of your domain")
    recipient.add_argument("--project", metavar="PROJECT", help="the members of a project, by name or id")
    parser.explain("Share an environment: others see it and start sessions from it. It stays yours.")
    parser.example(
        "carrel environment share torch --with ada@example.org",
        "carrel environment share torch --project vision",
    )


def share(args: argparse.Namespace, context: Context) -> int:
    """Share an environment."""
    made = context.client.environments.share(args.environment, **given(args, "user", "project"))
    context.answer(made, lambda: print_line(f"{_with(made)} may start sessions from {args.environment}"))
    return 0


def shares_arguments(parser: Arguments) -> None:
    parser.add_argument("environment", metavar="ENVIRONMENT", help=_REF)
    parser.watches("environment")
    parser.example("carrel environment shares torch")


def shares(args: argparse.Namespace, context: Context) -> int:
    """List with whom an environment is shared."""
    response = context.client.environments.shares(args.environment)
    columns = [Column(title) for title in ("ID", "WHO", "SINCE")]
    rows = [[one["id"], _with(one), local_time(one["created_at"])] for one in response["items"]]
    context.answer(response, lambda: print_table(columns, rows))
    return 0


def unshare_arguments(parser: Arguments) -> None:
    parser.add_argument("environment", metavar="ENVIRONMENT", help=_REF)
    parser.add_argument(
        "shares", metavar="SHARE", nargs="+", help="ids of shares, e-mails, or names of projects"
    )
    yes_argument(parser)
    parser.explain("Stop sharing an environment. Sessions that were started from it go on.")
    parser.example("carrel environment unshare torch ada@example.org")


def unshare(args: argparse.Namespace, context: Context) -> int:
    """Stop sharing an environment; continues after a failure."""
    if not agreed(args, f"Stop sharing {args.environment} with {{}}?", "holder", args.shares):
        return 1

    def one(share: str) -> tuple[object, str]:
        context.client.environments.unshare(args.environment, share)
        return {"share": share, "removed": True}, f"{args.environment} is no longer shared with {share}"

    return each(context, args.shares, one)


def cancel_arguments(parser: Arguments) -> None:
    parser.add_argument(
        "environments", metavar="ENVIRONMENT:VERSION", nargs="+", help="versions in the making"
    )
    yes_argument(parser)
    parser.example("carrel environment cancel torch:3")


def cancel(args: argparse.Namespace, context: Context) -> int:
    """Stop making versions of environments; continues after a failure."""
    if not agreed(args, "Stop making {}?", "version", args.environments):
        return 1

    def one(ref: str) -> tuple[object, str]:
        name, version = parts(ref)
        context.client.environments.cancel(name, version or "")
        return {"environment": ref, "canceled": True}, f"{ref} is being canceled"

    return each(context, args.environments, one)


def rm_arguments(parser: Arguments) -> None:
    parser.add_argument("environments", metavar="ENVIRONMENT", nargs="+", help=_VERSION)
    yes_argument(parser)
    parser.explain(
        "Delete environments with all their versions, or single versions. Refused while live sessions use them."
    )
    parser.example("carrel environment rm torch:1", "carrel environment rm torch --yes")


def rm(args: argparse.Namespace, context: Context) -> int:
    """Delete environments or versions; continues after a failure."""
    if not removal_confirmed(args, "environment", args.environments):
        return 1

    def one(ref: str) -> tuple[object, str]:
        name, version = parts(ref)
        if version:
            context.client.environments.remove_version(name, version)
        else:
            context.client.environments.remove(name)
        return {"environment": ref, "removed": True}, f"{ref} deleted"

    return each(context, args.environments, one)


def parts(ref: str) -> tuple[str, str | None]:
    """Environment and version of NAME[:VERSION]."""
    name, _, version = ref.removeprefix("env:").partition(":")
    return name, version or None


def _owner(one: models.EnvironmentView) -> str:
    if one["owner"]:
        return one["owner"]["email"]
    return f"project {one['project']['name']}" if one["project"] else ""


def _with(one: models.EnvironmentShareView) -> str:
    if one["user"]:
        return one["user"]["email"]
    return f"project {one['project']['name']}" if one["project"] else ""
