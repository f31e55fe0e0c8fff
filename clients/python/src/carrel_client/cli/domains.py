"""Commands for domains."""

from __future__ import annotations

import argparse

from carrel_client.cli.asking import agreed, removal_confirmed, yes_argument
from carrel_client.cli.context import Context
from carrel_client.cli.output import Column, print_facts, print_line, print_table
from carrel_client.cli.parser import Arguments
from carrel_client.cli.people import (
    ceiling_argument,
    ceilings,
    each,
    given,
    list_arguments,
    listed,
)
from carrel_client.cli.times import local_time
from carrel_client.slots import slots_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from carrel_client import models

_STATES = {"enabled": "green", "disabled": "red"}
_PLACES = ("resource_groups", "registries", "storage_hosts")


def ls_arguments(parser: Arguments) -> None:
    list_arguments(parser, "name", "created_at")
    parser.watches("domain")
    parser.example("carrel domain ls", "carrel domain ls -o json | jq '.items[].name'")


def ls(args: argparse.Namespace, context: Context) -> int:
    """List domains."""
    response = listed(args, context.client.domains.list)
    columns = [Column("NAME"), Column("STATE", _STATES)]
    columns += [Column(title) for title in ("USERS", "PROJECTS", "LIVE SESSIONS", "ADMINISTRATORS")]
    rows = [
        [
            domain["name"],
            _state(domain),
            str(domain["users"]),
            str(domain["projects"]),
            str(domain["live_sessions"]),
            ", ".join(admin["email"] for admin in domain["admins"]),
        ]
        for domain in response["items"]
    ]
    context.answer(response, lambda: print_table(columns, rows))
    return 0


def show_arguments(parser: Arguments) -> None:
    parser.add_argument("domain", metavar="DOMAIN", help="its name or id")
    parser.example("carrel domain show physics")


def show(args: argparse.Namespace, context: Context) -> int:
    """Show one domain."""
    domain = context.client.domains.show(args.domain)
    context.answer(domain, lambda: _print(domain))
    return 0


def create_arguments(parser: Arguments) -> None:
    parser.add_argument("name", metavar="NAME", help="unique, case-insensitive")
    _settings(parser)
    parser.example("carrel domain create physics --ceiling cpu=256 --ceiling mem=2t --registry docker.io")


def create(args: argparse.Namespace, context: Context) -> int:
    """Create a domain."""
    made = context.client.domains.create(name=args.name, **_fields(args))
    context.answer(made, lambda: print_line(f"{made['name']} created ({made['id']})"))
    return 0


def update_arguments(parser: Arguments) -> None:
    parser.add_argument("domain", metavar="DOMAIN", help="its name or id")
    parser.add_argument("--name", help="new name")
    _settings(parser)
    parser.add_argument(
        "--all",
        dest="all_of",
        action="append",
        choices=_PLACES,
        default=[],
        help="allow all of these again",
    )
    parser.explain("Change a domain. Ceilings and lists are replaced completely.")
    parser.example(
        "carrel domain update physics --description 'Institute of Physics' --ceiling cpu=512",
        "carrel domain update physics --all registries",
    )


def update(args: argparse.Namespace, context: Context) -> int:
    """Change a domain."""
    changes = {**given(args, "name"), **_fields(args), **dict.fromkeys(args.all_of)}
    changed = context.client.domains.update(args.domain, **changes)
    context.answer(changed, lambda: _print(changed))
    return 0


def enable_arguments(parser: Arguments) -> None:
    parser.add_argument("domains", metavar="DOMAIN", nargs="+", help="names or ids")
    parser.example("carrel domain enable physics")


def enable(args: argparse.Namespace, context: Context) -> int:
    """Enable domains."""
    return each(context, args.domains, lambda ref: _switch(context, ref, True))


def disable_arguments(parser: Arguments) -> None:
    parser.add_argument("domains", metavar="DOMAIN", nargs="+", help="names or ids")
    yes_argument(parser)
    parser.explain(
        "Disable domains: sign out their users immediately and accept no new sessions. "
        "Running sessions continue."
    )
    parser.example("carrel domain disable physics")


def disable(args: argparse.Namespace, context: Context) -> int:
    """Disable domains."""
    if not agreed(args, "Disable {}?", "domain", args.domains):
        return 1
    return each(context, args.domains, lambda ref: _switch(context, ref, False))


def rm_arguments(parser: Arguments) -> None:
    parser.add_argument("domains", metavar="DOMAIN", nargs="+", help="names or ids")
    yes_argument(parser)
    parser.explain("Delete empty domains.")
    parser.example("carrel domain rm physics")


def rm(args: argparse.Namespace, context: Context) -> int:
    """Remove domains."""
    if not removal_confirmed(args, "domain", args.domains):
        return 1

    def remove(ref: str) -> tuple[object, str]:
        context.client.domains.remove(ref)
        return {"domain": ref, "removed": True}, f"{ref} deleted"

    return each(context, args.domains, remove)


def _settings(parser: Arguments) -> None:
    parser.add_argument("--description", help="description")
    ceiling_argument(parser)
    for option, thing in (
        ("--resource-group", "a group of nodes"),
        ("--registry", "an image registry"),
        ("--storage-host", "a storage host"),
    ):
        parser.add_argument(
            option, metavar="NAME", action="append", help=f"{thing} that it may use (default: all)"
        )


def _fields(args: argparse.Namespace) -> dict[str, Any]:
    lists = {
        "resource_groups": args.resource_group,
        "registries": args.registry,
        "storage_hosts": args.storage_host,
    }
    return {
        **given(args, "description"),
        **ceilings(args),
        **{field: names for field, names in lists.items() if names},
    }


def _switch(context: Context, ref: str, active: bool) -> tuple[object, str]:
    changed = context.client.domains.update(ref, active=active)
    return changed, f"{changed['name']} is {_state(changed)}"


def _state(domain: models.DomainView) -> str:
    return "enabled" if domain["active"] else "disabled"


def _print(domain: models.DomainView) -> None:
    places = [(field.replace("_", " "), domain[field]) for field in _PLACES]  # type: ignore[literal-required]
    print_facts(
        [
            ("name", domain["name"]),
            ("id", domain["id"]),
            ("state", _state(domain)),
            ("description", domain["description"]),
            ("ceilings", slots_text(domain["ceilings"]) or "none"),
            *[(name, "all" if names is None else ", ".join(names) or "none") for name, names in places],
            ("users", str(domain["users"])),
            ("projects", str(domain["projects"])),
            ("allocated", slots_text(domain["used"]) or "nothing"),
            ("live sessions", str(domain["live_sessions"])),
            ("administrators", ", ".join(admin["email"] for admin in domain["admins"])),
            ("created", local_time(domain["created_at"])),
        ]
    )
