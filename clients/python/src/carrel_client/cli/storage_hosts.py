"""Commands about storage hosts: where folders are kept."""

from __future__ import annotations

import argparse

from carrel_client.cli.asking import removal_confirmed, yes_argument
from carrel_client.cli.context import Context
from carrel_client.cli.output import Column, print_facts, print_line, print_table
from carrel_client.cli.parser import Arguments, reading
from carrel_client.cli.people import each, given, list_arguments, listed
from carrel_client.cli.times import local_time
from carrel_client.errors import CarrelError
from carrel_client.units import format_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from carrel_client import models

_LEVELS = {"adequate": "green", "caution": "yellow", "insufficient": "red"}


def ls_arguments(parser: Arguments) -> None:
    list_arguments(parser, "name", "created_at")
    parser.watches("storage_host")
    parser.explain("List the storage hosts that you may keep folders on, and how much room they have.")
    parser.example("carrel storage-host ls", "carrel storage-host ls -o json | jq '.items[].free_bytes'")


def ls(args: argparse.Namespace, context: Context) -> int:
    """List storage hosts."""
    found = listed(args, context.client.storage_hosts.list)
    columns = [Column("NAME"), Column("STATE", {"ok": "green"}, otherwise="red")]
    columns += [Column(title) for title in ("BACK END", "FREE", "OF")]
    columns += [Column("ROOM", _LEVELS), Column("FOLDERS"), Column("NEW FOLDERS"), Column("PROBLEM")]
    rows = [
        [
            host["name"],
            host["state"],
            host["backend"],
            _size(host["free_bytes"]),
            _size(host["total_bytes"]),
            host["level"],
            str(host["folders"]),
            _open(host),
            host["problem"] or "",
        ]
        for host in found["items"]
    ]
    context.answer(found, lambda: print_table(columns, rows))
    return 0


def show_arguments(parser: Arguments) -> None:
    parser.add_argument("host", metavar="HOST", help="its name or id")
    parser.example("carrel storage-host show local")


def show(args: argparse.Namespace, context: Context) -> int:
    """Show one storage host."""
    host = context.client.storage_hosts.show(args.host)
    context.answer(host, lambda: _print(host))
    return 0


def kinds_arguments(parser: Arguments) -> None:
    parser.explain("List the kinds of storage that are installed, and what a host of each is set up with.")
    parser.example("carrel storage-host kinds", "carrel storage-host kinds -o json | jq '.items[].settings'")


def kinds(args: argparse.Namespace, context: Context) -> int:
    """List kinds of storage, with their settings."""
    found = context.client.storage_host_kinds.list()
    rows = [
        [
            kind["kind"],
            name,
            "required" if name in kind["settings"]["required"] else "",
            one.get("description", ""),
        ]
        for kind in found["items"]
        for name, one in kind["settings"]["properties"].items()
    ]
    columns = [Column(title) for title in ("KIND", "SETTING", "", "WHAT IT IS")]
    context.answer(found, lambda: print_table(columns, rows))
    return 0


def _setting(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise ValueError(f"{text!r} is not KEY=VALUE")
    return key, value


def create_arguments(parser: Arguments) -> None:
    parser.add_argument("name", metavar="NAME", help="small letters, digits and _ . - between them")
    parser.add_argument("root", metavar="ROOT", help="a directory on the server, as /srv/folders")
    parser.add_argument(
        "--backend",
        help="what kind of storage it is: posix (default), or one that `carrel storage-host kinds` lists",
    )
    parser.add_argument(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        type=reading(_setting),
        default=[],
        dest="settings",
        help="a setting of the kind besides its root; again for another",
    )
    _settings(parser)
    parser.explain("Add a storage host. Its root is tried first, and what is wrong with it is said.")
    parser.example("carrel storage-host create fast /srv/nvme --backend btrfs --description 'NVMe, 20 TB'")


def create(args: argparse.Namespace, context: Context) -> int:
    """Add a storage host."""
    made = context.client.storage_hosts.create(
        name=args.name,
        root=args.root,
        settings=dict(args.settings),
        **given(args, "backend", "description", "active", "public"),
    )
    context.answer(made, lambda: print_line(f"{made['name']} is added ({made['id']})"))
    return 0


def update_arguments(parser: Arguments) -> None:
    parser.add_argument("host", metavar="HOST", help="its name or id")
    parser.add_argument("--name", help="another name")
    _settings(parser)
    parser.explain("Change a storage host. Back end and root stay as they are, for folders are there.")
    parser.example("carrel storage-host update fast --inactive", "carrel storage-host update fast --closed")


def update(args: argparse.Namespace, context: Context) -> int:
    """Change a storage host."""
    changed = context.client.storage_hosts.update(
        args.host, **given(args, "name", "description", "active", "public")
    )
    context.answer(changed, lambda: _print(changed))
    return 0


def rm_arguments(parser: Arguments) -> None:
    parser.add_argument("hosts", metavar="HOST", nargs="+", help="names or ids")
    yes_argument(parser)
    parser.explain("Forget storage hosts that keep no folder. What is in their roots stays.")
    parser.example("carrel storage-host rm old")


def rm(args: argparse.Namespace, context: Context) -> int:
    """Forget storage hosts."""
    if not removal_confirmed(args, "storage host", args.hosts):
        return 1

    def remove(ref: str) -> tuple[object, str]:
        context.client.storage_hosts.remove(ref)
        return {"host": ref, "removed": True}, f"{ref} is forgotten"

    return each(context, args.hosts, remove)


def access_arguments(parser: Arguments) -> None:
    parser.add_argument("host", metavar="HOST", help="its name or id")
    parser.add_argument(
        "--domain", metavar="NAME", action="append", help="open to this domain; again for more"
    )
    parser.add_argument(
        "--project", metavar="NAME", action="append", help="open to this project; again for more"
    )
    parser.add_argument("--nobody", action="store_true", help="open to nobody")
    parser.explain(
        "Show who may use a storage host while it is not public. What is given replaces what was, as a whole."
    )
    parser.example(
        "carrel storage-host access fast", "carrel storage-host access fast --domain physics --project vision"
    )


def access(args: argparse.Namespace, context: Context) -> int:
    """Show or say who may use a storage host."""
    hosts = context.client.storage_hosts
    if args.domain or args.project or args.nobody:
        host = hosts.set_access(args.host, domains=args.domain or [], projects=args.project or [])
    else:
        host = hosts.show(args.host)
    there = host["access"]
    if there is None:
        raise CarrelError(
            "policy.forbidden",
            f"Who may use {args.host} is for superadmins to see.",
            status=403,
            hint="Ask an administrator.",
        )
    rows = [["domain", domain["name"], domain["id"]] for domain in there["domains"]]
    rows += [["project", project["name"], project["id"]] for project in there["projects"]]
    context.answer(there, lambda: print_table([Column("KIND"), Column("NAME"), Column("ID")], rows))
    return 0


def _settings(parser: Arguments) -> None:
    parser.add_argument("--description", help="what it is")
    active = parser.add_mutually_exclusive_group()
    active.add_argument("--active", action="store_const", const=True, help="take new folders")
    active.add_argument("--inactive", dest="active", action="store_const", const=False, help="take none")
    public = parser.add_mutually_exclusive_group()
    public.add_argument(
        "--public", action="store_const", const=True, help="open to whoever's domain may use it"
    )
    public.add_argument(
        "--closed",
        dest="public",
        action="store_const",
        const=False,
        help="open to those whom carrel storage-host access names",
    )


def _size(size: int | None) -> str:
    return "-" if size is None else format_size(size)


def _open(host: models.StorageHostView) -> str:
    if not host["active"]:
        return "none"
    return "all" if host["public"] else "of those it is open to"


def _print(host: models.StorageHostView) -> None:
    access = host["access"]
    named = [row["name"] for row in [*access["domains"], *access["projects"]]] if access else []
    print_facts(
        [
            ("name", host["name"]),
            ("id", host["id"]),
            ("state", host["state"]),
            ("problem", host["problem"] or ""),
            ("description", host["description"]),
            ("back end", host["backend"]),
            ("root", host["root"] or ""),
            ("room", f"{_size(host['free_bytes'])} of {_size(host['total_bytes'])}, {host['level']}"),
            ("folders", f"{host['folders']}, {format_size(host['used_bytes'])}"),
            ("new folders", _open(host)),
            ("open to", ", ".join(named)),
            (
                "quotas",
                "refuses writing past one at once" if host["hard_quota"] else "looked after now and then",
            ),
            ("clones", "at once" if host["instant_clone"] else "by copying"),
            ("checked", local_time(host["checked_at"])),
            ("created", local_time(host["created_at"])),
        ]
    )
