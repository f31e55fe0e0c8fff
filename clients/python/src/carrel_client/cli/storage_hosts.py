"""Commands for storage hosts."""

from __future__ import annotations

import argparse

from carrel_client.cli.asking import removal_confirmed, yes_argument
from carrel_client.cli.context import Context
from carrel_client.cli.kinds import given_settings, kind_argument, named, print_kinds
from carrel_client.cli.output import Column, print_facts, print_line, print_table
from carrel_client.cli.parser import Arguments
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
    parser.explain("List the storage hosts that you may use, with their free space.")
    parser.example("carrel storage-host ls", "carrel storage-host ls -o json | jq '.items[].free_bytes'")


def ls(args: argparse.Namespace, context: Context) -> int:
    """List storage hosts."""
    response = listed(args, context.client.storage_hosts.list)
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
        for host in response["items"]
    ]
    context.answer(response, lambda: print_table(columns, rows))
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
    parser.explain("List the installed storage kinds and their settings.")
    parser.example("carrel storage-host kinds", "carrel storage-host kinds -o json | jq '.items[].settings'")


def kinds(args: argparse.Namespace, context: Context) -> int:
    """List storage kinds."""
    print_kinds(context, context.client.storage_host_kinds.list())
    return 0


def create_arguments(parser: Arguments) -> None:
    kind_argument(parser, "storage_kind")
    parser.add_argument("name", metavar="NAME", help="lower-case letters and digits, with _ . - between them")
    parser.kind_of = lambda context, kind: named(context.client.storage_host_kinds.list()["items"], kind)
    _settings(parser)
    parser.explain(
        "Add a storage host. Each setting of the kind is an option after KIND; the root, a directory on the server,\n"
        "is checked first."
    )
    parser.example(
        "carrel storage-host create btrfs fast --root /srv/nvme --description 'NVMe, 20 TB'",
        "carrel storage-host create posix --help",
    )


def create(args: argparse.Namespace, context: Context) -> int:
    """Add a storage host."""
    settings = given_settings(args)
    made = context.client.storage_hosts.create(
        name=args.name,
        backend=args.storage_kind,
        root=settings.pop("root", ""),
        settings=settings,
        **given(args, "description", "active", "public"),
    )
    context.answer(made, lambda: print_line(f"{made['name']} added ({made['id']})"))
    return 0


def update_arguments(parser: Arguments) -> None:
    parser.add_argument("host", metavar="HOST", help="its name or id")
    parser.add_argument("--name", help="new name")
    _settings(parser)
    parser.explain("Change a storage host. Back end and root cannot be changed.")
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
    parser.explain("Remove storage hosts without folders. The content of their roots is kept.")
    parser.example("carrel storage-host rm old")


def rm(args: argparse.Namespace, context: Context) -> int:
    """Remove storage hosts."""
    if not removal_confirmed(args, "storage host", args.hosts):
        return 1

    def remove(ref: str) -> tuple[object, str]:
        context.client.storage_hosts.remove(ref)
        return {"host": ref, "removed": True}, f"{ref} removed"

    return each(context, args.hosts, remove)


def access_arguments(parser: Arguments) -> None:
    parser.add_argument("host", metavar="HOST", help="its name or id")
    parser.add_argument("--domain", metavar="NAME", action="append", help="allow this domain; repeatable")
    parser.add_argument("--project", metavar="NAME", action="append", help="allow this project; repeatable")
    parser.add_argument("--nobody", action="store_true", help="allow nobody")
    parser.explain("Show or replace the access list of a storage host, used while it is not public.")
    parser.example(
        "carrel storage-host access fast", "carrel storage-host access fast --domain physics --project vision"
    )


def access(args: argparse.Namespace, context: Context) -> int:
    """Show or replace the access list of a storage host."""
    hosts = context.client.storage_hosts
    if args.domain or args.project or args.nobody:
        host = hosts.set_access(args.host, domains=args.domain or [], projects=args.project or [])
    else:
        host = hosts.show(args.host)
    there = host["access"]
    if there is None:
        raise CarrelError(
            "policy.forbidden",
            f"Only superadmins can see the access list of {args.host}.",
            status=403,
            hint="Ask an administrator.",
        )
    rows = [["domain", domain["name"], domain["id"]] for domain in there["domains"]]
    rows += [["project", project["name"], project["id"]] for project in there["projects"]]
    context.answer(there, lambda: print_table([Column("KIND"), Column("NAME"), Column("ID")], rows))
    return 0


def location_arguments(parser: Arguments) -> None:
    parser.add_argument("host", metavar="HOST", help="its name or id")
    parser.add_argument("engine", metavar="ENGINE", help="name or id of an engine")
    place = parser.add_mutually_exclusive_group(required=True)
    place.add_argument(
        "--at",
        dest="location",
        metavar="LOCATION",
        help="a path on the engine's nodes, volume://NAME/PREFIX, nfs://SERVER/EXPORT or"
        " csi://DRIVER/PREFIX?ATTRIBUTE=VALUE",
    )
    place.add_argument(
        "--same-path",
        dest="location",
        action="store_const",
        const="",
        help="at the same path as on the server",
    )
    place.add_argument("--nowhere", action="store_true", help="sessions with its folders do not run there")
    parser.explain(
        "Set where the containers of an engine have the folders of a storage host. Running sessions keep their mounts."
    )
    parser.example(
        "carrel storage-host location fast west --at volume://folders",
        "carrel storage-host location fast west --at nfs://filer.example.org/export/folders",
        "carrel storage-host location fast west --nowhere",
    )


def location(args: argparse.Namespace, context: Context) -> int:
    """Set where an engine has a storage host."""
    place = None if args.nowhere else args.location
    host = context.client.storage_hosts.set_location(args.host, args.engine, location=place)
    context.answer(host, lambda: _print(host))
    return 0


def check_arguments(parser: Arguments) -> None:
    parser.add_argument("host", metavar="HOST", help="its name or id")
    parser.add_argument("engine", metavar="ENGINE", help="name or id of an engine")
    parser.add_argument("--image", help="image with a shell (default: one of the catalogue)")
    parser.explain(
        "Write a file on one node of the engine, and read it on another and on the server. Starts a container on each\n"
        "node. Exits with 1 if something does not work."
    )
    parser.example("carrel storage-host check fast west")


def check(args: argparse.Namespace, context: Context) -> int:
    """Check a storage host on an engine."""
    check = context.client.storage_hosts.check(args.host, args.engine, **given(args, "image"))
    rows = [
        [step["place"], "failed" if step["problem"] else "ok", step["problem"]] for step in check["steps"]
    ]
    state = Column("STATE", {"ok": "green"}, otherwise="red")
    context.answer(check, lambda: print_table([Column("PLACE"), state, Column("PROBLEM")], rows))
    return 0 if check["ok"] else 1


def _settings(parser: Arguments) -> None:
    parser.add_argument("--description", help="description")
    active = parser.add_mutually_exclusive_group()
    active.add_argument("--active", action="store_const", const=True, help="accept new folders")
    active.add_argument(
        "--inactive", dest="active", action="store_const", const=False, help="accept no new folders"
    )
    public = parser.add_mutually_exclusive_group()
    public.add_argument(
        "--public", action="store_const", const=True, help="open to every domain that may use it"
    )
    public.add_argument(
        "--closed",
        dest="public",
        action="store_const",
        const=False,
        help="open only to the access list (carrel storage-host access)",
    )


def _size(size: int | None) -> str:
    return "-" if size is None else format_size(size)


def _open(host: models.StorageHostView) -> str:
    if not host["active"]:
        return "none"
    return "all" if host["public"] else "its access list"


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
            *(
                (f"on {one['engine']['name']}", "nowhere" if one["location"] is None else one["location"])
                for one in host["locations"] or ()
            ),
            ("room", f"{_size(host['free_bytes'])} of {_size(host['total_bytes'])}, {host['level']}"),
            ("folders", f"{host['folders']}, {format_size(host['used_bytes'])}"),
            ("new folders", _open(host)),
            ("open to", ", ".join(named)),
            (
                "quotas",
                "enforced on every write" if host["hard_quota"] else "enforced periodically",
            ),
            ("clones", "at once" if host["instant_clone"] else "by copying"),
            ("checked", local_time(host["checked_at"])),
            ("created", local_time(host["created_at"])),
        ]
    )
