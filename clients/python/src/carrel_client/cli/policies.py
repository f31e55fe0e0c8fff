"""Commands for resource policies."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial

from carrel_client.cli.asking import removal_confirmed, yes_argument
from carrel_client.cli.context import Context
from carrel_client.cli.ledger import print_over
from carrel_client.cli.output import Column, print_facts, print_line, print_table
from carrel_client.cli.parser import Arguments, reading, whole_number
from carrel_client.cli.people import each, given, list_arguments, listed
from carrel_client.cli.times import local_time
from carrel_client.slots import format_amount, parse_amount
from carrel_client.units import format_duration, format_size, parse_duration, parse_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from carrel_client import models

UNLIMITED = "unlimited"
_KINDS = ("keypair", "user", "project")
_MEASURES = ("cpu", "mem", "accelerator", "accelerator_mem")
_FULL: dict[str, dict[str, Any]] = {
    "keypair": {
        "slots": {"*": UNLIMITED},
        "sessions": UNLIMITED,
        "pending_sessions": UNLIMITED,
        "pending_slots": {"*": UNLIMITED},
        "containers_per_session": UNLIMITED,
        "lifetime_s": UNLIMITED,
        "idle_timeout_s": UNLIMITED,
        "idle_use": UNLIMITED,
        "max_priority": 50,
        "storage_hosts": UNLIMITED,
        "log_bytes": 64 << 20,
        "max_rights": "plain",
        "default_disk_bytes": 20 << 30,
        "max_disk_bytes": UNLIMITED,
    },
    "user": {
        "slots": {"*": UNLIMITED},
        "sessions": UNLIMITED,
        "folders": UNLIMITED,
        "folder_bytes": UNLIMITED,
        "environment_bytes": UNLIMITED,
    },
    "project": {
        "folders": UNLIMITED,
        "folder_bytes": UNLIMITED,
        "environment_bytes": UNLIMITED,
        "max_rights": "root",
    },
}
"""Defaults of a new policy."""


def ls_arguments(parser: Arguments) -> None:
    parser.add_argument("--kind", choices=_KINDS, help="only those for keypairs, users or projects")
    list_arguments(parser, "name", "created_at")
    parser.watches("policy")
    parser.example("carrel policy ls", "carrel policy ls --kind keypair -o json | jq '.items[].name'")


def ls(args: argparse.Namespace, context: Context) -> int:
    """List resource policies."""

    def page(**filters: Any) -> models.PolicyList:
        return context.client.policies.list(kind=args.kind, **filters)

    response = listed(args, page)
    columns = [Column(title) for title in ("NAME", "KIND", "LIMITS", "USED BY", "ID")]
    rows = [
        [policy["name"], policy["kind"], _limits_text(policy["limits"]), _used_by(policy), policy["id"]]
        for policy in response["items"]
    ]
    context.answer(response, lambda: print_table(columns, rows))
    return 0


def mine_arguments(parser: Arguments) -> None:
    parser.explain("Show your limits: as a user, with each keypair and without one, and in your projects.")
    parser.example("carrel policy mine")


def mine(args: argparse.Namespace, context: Context) -> int:
    """Show your limits."""
    response = context.client.policies.mine()
    columns = [Column(title) for title in ("LIMITS", "WHICH", "POLICY", "TO AT MOST")]
    rows = [
        [
            one["scope"].replace("_", "-"),
            one["label"] or one["id"],
            one["policy"]["name"],
            _limits_text(one["limits"]),
        ]
        for one in response["items"]
    ]
    context.answer(response, lambda: print_table(columns, rows))
    return 0


def show_arguments(parser: Arguments) -> None:
    _policy(parser)
    parser.example("carrel policy show default-keypair")


def show(args: argparse.Namespace, context: Context) -> int:
    """Show one policy."""
    policy = context.client.policies.show(args.policy)
    context.answer(policy, lambda: _print(policy))
    return 0


def create_arguments(parser: Arguments) -> None:
    parser.add_argument("name", metavar="NAME", help="unique within its kind")
    parser.add_argument("--kind", choices=_KINDS, required=True, help="what the policy limits")
    parser.add_argument("--description", help="description")
    _limit_arguments(parser)
    parser.explain(
        "Create a resource policy. Limits that are not given are unlimited. With --slot, "
        "slots that are not named cannot be used; use '*' for all others."
    )
    parser.example(
        "carrel policy create students --kind keypair --slot cpu=8 --slot mem=32g --slot cuda.shares=0.5"
        " --sessions 2 --lifetime 12h --idle-timeout 1h --idle-use cpu=5,accelerator=5,window=1h,grace=10m",
        "carrel policy create staff --kind user --slot cpu=64 --slot '*=unlimited'",
        "carrel policy create small --kind project --folders 10 --folder-size 500g",
    )


def create(args: argparse.Namespace, context: Context) -> int:
    """Create a policy."""
    made = context.client.policies.create(
        kind=args.kind,
        name=args.name,
        limits={**_FULL[args.kind], **_limits(args)},  # type: ignore[arg-type]
        **given(args, "description"),
    )
    context.answer(made, lambda: print_line(f"{made['name']} created ({made['id']})"))
    return 0


def edit_arguments(parser: Arguments) -> None:
    _policy(parser)
    parser.add_argument("--name", help="new name")
    parser.add_argument("--description", help="description")
    _limit_arguments(parser)
    parser.explain(
        "Change a resource policy. Other limits keep their values; slots are replaced "
        "completely. Takes effect at the next scheduling decision and ends no session; "
        "`carrel policy over` shows beforehand who would exceed it."
    )
    parser.example(
        "carrel policy edit students --sessions 4", "carrel policy edit students --lifetime unlimited"
    )


def edit(args: argparse.Namespace, context: Context) -> int:
    """Change a policy."""
    changes = given(args, "name", "description")
    if limits := _limits(args):
        changes["limits"] = limits
    changed = context.client.policies.update(args.policy, **changes)
    context.answer(changed, lambda: _print(changed))
    return 0


def over_arguments(parser: Arguments) -> None:
    _policy(parser)
    _limit_arguments(parser)
    parser.explain(
        "Show who would exceed a policy with these limits; without limits, who exceeds "
        "it now. Changes nothing. Exit code 1 if somebody does."
    )
    parser.example("carrel policy over students --slot cpu=4 --slot mem=16g --sessions 1")


def over(args: argparse.Namespace, context: Context) -> int:
    """Check new limits of a policy."""
    return print_over(context, context.client.policies.over(args.policy, limits=_limits(args)))  # type: ignore[arg-type]


def copy_arguments(parser: Arguments) -> None:
    _policy(parser)
    parser.add_argument("name", metavar="NAME", help="name of the copy")
    parser.example("carrel policy copy students thesis")


def copy(args: argparse.Namespace, context: Context) -> int:
    """Copy a policy."""
    made = context.client.policies.copy(args.policy, name=args.name)
    context.answer(made, lambda: print_line(f"{made['name']} created ({made['id']})"))
    return 0


def rm_arguments(parser: Arguments) -> None:
    parser.add_argument("policies", metavar="POLICY", nargs="+", help="names or ids")
    yes_argument(parser)
    parser.explain("Delete resource policies without holders.")
    parser.example("carrel policy rm thesis")


def rm(args: argparse.Namespace, context: Context) -> int:
    """Remove policies."""
    if not removal_confirmed(args, "policy", args.policies):
        return 1

    def remove(ref: str) -> tuple[object, str]:
        context.client.policies.remove(ref)
        return {"policy": ref, "removed": True}, f"{ref} deleted"

    return each(context, args.policies, remove)


def assign_arguments(parser: Arguments) -> None:
    _policy(parser)
    for option, field, what in (
        ("--keypair", "access_keys", "an access key"),
        ("--sign-in", "sign_ins", "a user, for use without a keypair and for new keypairs"),
        ("--user", "users", "an id or e-mail"),
        ("--project", "projects", "an id or name"),
    ):
        parser.add_argument(
            option,
            dest=field,
            metavar=option.lstrip("-").upper(),
            action="append",
            default=[],
            help=f"{what}; repeatable",
        )
    parser.explain(
        "Assign a policy to keypairs, users or projects, replacing their current one. All or nothing."
    )
    parser.example(
        "carrel policy assign staff --user ada@example.org --user grace@example.org",
        "carrel policy assign students --sign-in ada@example.org --keypair CK0123456789ABCDEF01",
    )


def assign(args: argparse.Namespace, context: Context) -> int:
    """Assign a policy."""
    policy = context.client.policies.assign(
        args.policy,
        keypairs=args.access_keys,
        sign_ins=args.sign_ins,
        users=args.users,
        projects=args.projects,
    )
    context.answer(
        policy, lambda: print_line(f"{policy['name']} is now used by {_used_by(policy) or 'nobody'}")
    )
    return 0


def _policy(parser: Arguments) -> None:
    parser.add_argument("policy", metavar="POLICY", help="id, or name if unique among all kinds")


def _limit_arguments(parser: Arguments) -> None:
    slot = reading(_slot_limit)
    parser.add_argument(
        "--slot",
        dest="slots",
        metavar="SLOT=MOST",
        action="append",
        type=slot,
        help="most that sessions may hold in total: cpu=64, mem=512g, cuda.shares=0.5, or "
        "SLOT=unlimited; '*' is any other slot; repeatable",
    )
    parser.add_argument(
        "--pending-slot",
        dest="pending_slots",
        metavar="SLOT=MOST",
        action="append",
        type=slot,
        help="most that pending sessions may request in total, as --slot",
    )
    numbers = reading(partial(_or_unlimited, whole_number))
    for field, option, meaning in (
        ("sessions", "--sessions", "most live sessions"),
        ("pending_sessions", "--pending-sessions", "most pending sessions"),
        ("containers_per_session", "--containers", "most containers per session"),
        ("folders", "--folders", "most folders"),
    ):
        parser.add_argument(option, dest=field, metavar="N", type=numbers, help=f'{meaning}, or "unlimited"')
    parser.add_argument(
        "--lifetime",
        dest="lifetime_s",
        metavar="TIME",
        type=reading(partial(_or_unlimited, _seconds)),
        help='longest run time of a session, as 12h or 3d, or "unlimited"',
    )
    idle_arguments(parser)
    parser.add_argument(
        "--max-priority", metavar="N", type=reading(whole_number), help="the highest priority, 0 to 100"
    )
    parser.add_argument(
        "--max-rights",
        choices=("plain", "root"),
        help="the most that sessions may have inside: root makes sudo and package managers work",
    )
    parser.add_argument(
        "--default-disk",
        dest="default_disk_bytes",
        metavar="SIZE",
        type=reading(partial(_or_unlimited, parse_size)),
        help="what each container may write outside its folders if the session requests nothing, as 20g,"
        ' or "unlimited"',
    )
    parser.add_argument(
        "--max-disk",
        dest="max_disk_bytes",
        metavar="SIZE",
        type=reading(partial(_or_unlimited, parse_size)),
        help='the most that a session may request of it, as 100g, or "unlimited"',
    )
    parser.add_argument(
        "--storage-host",
        dest="storage_hosts",
        metavar="NAME",
        action="append",
        help="a storage host for new folders; repeatable; \"unlimited\": any accessible one, '': none",
    )
    parser.add_argument(
        "--folder-size",
        dest="folder_bytes",
        metavar="SIZE",
        type=reading(partial(_or_unlimited, parse_size)),
        help='total size of all folders, as 500g, or "unlimited"',
    )
    parser.add_argument(
        "--environment-size",
        dest="environment_bytes",
        metavar="SIZE",
        type=reading(partial(_or_unlimited, parse_size)),
        help='total size of what environments add to the images below, as 20g, or "unlimited"',
    )
    parser.add_argument(
        "--log-size",
        dest="log_bytes",
        metavar="SIZE",
        type=reading(partial(_or_unlimited, parse_size)),
        help='kept of the log of each container, compressed, as 64m, or "unlimited"',
    )


def idle_arguments(parser: Arguments) -> None:
    """The options for idle rules."""
    parser.add_argument(
        "--idle-timeout",
        dest="idle_timeout_s",
        metavar="TIME",
        type=reading(partial(_or_unlimited, _seconds)),
        help='end a session after this long without app, terminal or command traffic, as 1h, or "unlimited"',
    )
    parser.add_argument(
        "--idle-use",
        metavar="USE",
        type=reading(_idle_use),
        help="end a session that used less than these percentages of its slots for a whole window:"
        " cpu=5,mem=10,accelerator=5,accelerator_mem=5,window=1h,grace=10m; omit measures to ignore them; grace is"
        ' the time after the start that is not checked; or "unlimited"',
    )


def _limits(args: argparse.Namespace) -> dict[str, Any]:
    """The given limits."""
    limits = given(args, *{field for full in _FULL.values() for field in full})
    for slots in limits.keys() & {"slots", "pending_slots"}:
        limits[slots] = dict(limits[slots])
    if hosts := limits.get("storage_hosts"):
        limits["storage_hosts"] = UNLIMITED if UNLIMITED in hosts else [host for host in hosts if host]
    return limits


def _or_unlimited(parse: Callable[[str], int], text: str) -> int | str:
    return UNLIMITED if text == UNLIMITED else parse(text)


def _seconds(text: str) -> int:
    return round(parse_duration(text))


def _idle_use(text: str) -> dict[str, object] | str:
    """An idle rule, such as "cpu=5,window=1h,grace=10m"."""
    if text == UNLIMITED:
        return UNLIMITED
    use: dict[str, Any] = {"window_s": 0, "grace_s": 0, "below": {}}
    for part in text.split(","):
        name, equals, value = part.strip().partition("=")
        if name in ("window", "grace") and equals:
            use[f"{name}_s"] = _seconds(value)
        elif name in _MEASURES and value.rstrip("%").isdigit():
            use["below"][name] = int(value.rstrip("%"))
        else:
            raise ValueError(
                f"{part!r} is not one of {', '.join(_MEASURES)} with a percentage, window and grace"
            )
    if not use["window_s"] or not use["below"]:
        raise ValueError(f"{text!r} needs a window and at least one measure, as cpu=5,window=1h")
    return use


def _slot_limit(text: str) -> tuple[str, int | str]:
    slot, equals, most = text.partition("=")
    if not equals or not slot:
        raise ValueError(f"{text!r} is not SLOT=MOST, as cpu=64, mem=512g or '*=unlimited'")
    return slot, _or_unlimited(partial(parse_amount, slot), most)


def _limits_text(limits: Mapping[str, Any]) -> str:
    """All limits; "unlimited" if there are none."""
    named = {
        "slots": "",
        "sessions": "sessions",
        "pending_slots": "pending",
        "pending_sessions": "pending sessions",
        "containers_per_session": "containers per session",
        "lifetime_s": "lifetime",
        "idle_timeout_s": "idle for",
        "idle_use": "idle use",
        "max_priority": "priority",
        "storage_hosts": "storage hosts",
        "max_rights": "rights",
        "default_disk_bytes": "default disk",
        "max_disk_bytes": "disk",
        "folders": "folders",
        "folder_bytes": "folder size",
        "environment_bytes": "environment size",
        "log_bytes": "log size",
    }
    parts = [
        f"{named[field]} {_most(field, limits[field])}".strip()
        for field in named
        if limits.get(field, UNLIMITED) not in (UNLIMITED, {"*": UNLIMITED})
    ]
    return ", ".join(parts) or UNLIMITED


def _most(field: str, most: Any) -> str:
    if field == "idle_use" and isinstance(most, dict):
        return _idle_use_text(most)
    if isinstance(most, dict):
        return ", ".join(f"{slot} {_amount(slot, amount)}" for slot, amount in sorted(most.items())) or "none"
    if isinstance(most, list):
        return ", ".join(most) or "none"
    if most == UNLIMITED:
        return UNLIMITED
    if field in ("lifetime_s", "idle_timeout_s"):
        return format_duration(most)
    return format_size(most) if field.endswith("_bytes") else str(most)


def _idle_use_text(use: Mapping[str, Any]) -> str:
    """As --idle-use reads it."""
    below = [f"{name}={use['below'][name]}" for name in _MEASURES if name in use["below"]]
    times = [f"window={_plain(use['window_s'])}", f"grace={_plain(use['grace_s'])}"]
    return ",".join([*below, *times])


def _plain(seconds: int) -> str:
    """ "1h", "90m", "45s": the largest unit that divides it."""
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds and seconds % size == 0:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def _amount(slot: str, most: int | str) -> str:
    return most if isinstance(most, str) else format_amount(slot, most)


def _used_by(policy: models.PolicyView) -> str:
    counts = {what.replace("_", "-"): count for what, count in policy["used_by"].items() if count}
    return ", ".join(f"{count} {what}" for what, count in counts.items())


def _print(policy: models.PolicyView) -> None:
    limits: Mapping[str, Any] = policy["limits"]
    print_facts(
        [
            ("name", policy["name"]),
            ("id", policy["id"]),
            ("kind", policy["kind"]),
            ("description", policy["description"]),
            *[(field.replace("_", " "), _most(field, most)) for field, most in limits.items()],
            ("used by", _used_by(policy) or "nobody"),
            ("created", local_time(policy["created_at"])),
        ]
    )
