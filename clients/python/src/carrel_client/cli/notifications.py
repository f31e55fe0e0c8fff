"""Commands for notifications and webhooks."""

from __future__ import annotations

import argparse

from carrel_client.cli.asking import agreed, removal_confirmed, yes_argument
from carrel_client.cli.context import Context
from carrel_client.cli.output import Column, print_line, print_table, say
from carrel_client.cli.parser import Arguments, reading
from carrel_client.cli.people import each
from carrel_client.cli.times import local_time
from carrel_client.errors import CarrelError
from carrel_client.units import parse_duration

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_OF_SESSIONS = ("started", "ended", "failed", "about_to_end", "shared")
KINDS = (*_OF_SESSIONS, "device_out_of_order", "device_back")
CHANNELS = ("page", "browser", "mail", "webhook")
_STATES = {"pending": "yellow", "delivered": "green", "failed": "red"}
_DAY_S = 86_400
_YES = {"yes": "green", "no": "dim"}


def show_arguments(parser: Arguments) -> None:
    parser.explain(
        "Show on which channels each kind of notification reaches you: of your sessions, and for superadmins of\n"
        "accelerators."
    )
    parser.example("carrel notifications show", "carrel notifications show -o json")


def show(args: argparse.Namespace, context: Context) -> int:
    """Show the channels of each kind."""
    _print(context, context.client.notifications.show())
    return 0


def choose_arguments(parser: Arguments) -> None:
    for kind in KINDS:
        parser.add_argument(
            f"--{kind.replace('_', '-')}",
            metavar="CHANNELS",
            help=f"{', '.join(CHANNELS)}, separated by commas; none for no channel",
        )
    parser.explain(
        "Choose on which channels each kind of notification reaches you. Kinds that you omit stay as they are.\n"
        "page: while the page is open; browser: by the system, from the open page; mail: by e-mail; webhook: to\n"
        "your own webhooks. Accelerators that get out of order or are put back are reported to superadmins only."
    )
    parser.example(
        "carrel notifications set --failed page,mail --about-to-end page,browser,mail",
        "carrel notifications set --started none",
        "carrel notifications set --device-back page,mail,webhook",
    )


def choose(args: argparse.Namespace, context: Context) -> int:
    """Choose channels."""
    given = {kind: getattr(args, kind) for kind in KINDS if getattr(args, kind) is not None}
    if not given:
        raise CarrelError(
            "usage", "No kind was given.", status=422, hint="Use --failed page,mail for example."
        )
    chosen: dict[str, Any] = {kind: _listed(text, CHANNELS, none=True) for kind, text in given.items()}
    _print(context, context.client.notifications.update(**chosen))
    return 0


def _print(context: Context, chosen: Any) -> None:
    columns = [Column("KIND"), *(Column(channel.upper(), _YES) for channel in CHANNELS)]
    rows = [[kind, *("yes" if channel in chosen[kind] else "no" for channel in CHANNELS)] for kind in KINDS]
    context.answer(chosen, lambda: print_table(columns, rows))


def _listed(text: str, known: tuple[str, ...], *, none: bool = False) -> list[str]:
    if none and text == "none":
        return []
    words = [word.strip() for word in text.split(",")]
    for word in words:
        if word not in known:
            hint = f"Use one of {', '.join(known)}."
            raise CarrelError("usage", f"There is no {word}.", status=422, hint=hint)
    return words


def _place_arguments(parser: Arguments) -> None:
    place = parser.add_mutually_exclusive_group()
    place.add_argument("--project", metavar="P", help="of this project, which you administer")
    place.add_argument("--domain", metavar="D", help="of this domain, which you administer")


def webhooks_arguments(parser: Arguments) -> None:
    _place_arguments(parser)
    parser.watches()
    parser.example("carrel webhook ls", "carrel webhook ls --project vision")


def webhooks(args: argparse.Namespace, context: Context) -> int:
    """List webhooks."""
    response = context.client.webhooks.list(project=args.project, domain=args.domain)
    columns = [Column("ID"), Column("NAME"), Column("URL"), Column("KINDS"), Column("ACTIVE", _YES)]
    columns += [Column("WAITING"), Column("FAILED")]
    rows = [
        [
            one["id"],
            one["name"],
            one["url"],
            ",".join(one["kinds"]),
            "yes" if one["active"] else "no",
            str(one["waiting"]),
            str(one["failed"]),
        ]
        for one in response["items"]
    ]
    context.answer(response, lambda: print_table(columns, rows))
    return 0


def create_arguments(parser: Arguments) -> None:
    parser.add_argument("name", metavar="NAME", help="what it is for")
    parser.add_argument("url", metavar="URL", help="where messages are posted to")
    parser.add_argument(
        "--kinds", metavar="KINDS", help=f"separated by commas (default: {','.join(_OF_SESSIONS)})"
    )
    _place_arguments(parser)
    parser.explain(
        "Add a webhook. The secret, with which the receiver verifies signatures, is shown only once. The kinds\n"
        "device_out_of_order and device_back are delivered to superadmins' own webhooks only."
    )
    parser.example(
        "carrel webhook create chat https://chat.example.org/hooks/carrel",
        "carrel webhook create jobs https://ci.example.org/carrel --project vision --kinds failed,ended",
        "carrel webhook create devices https://chat.example.org/hooks/ops --kinds device_out_of_order,device_back",
    )


def create(args: argparse.Namespace, context: Context) -> int:
    """Add a webhook."""
    given: dict[str, Any] = {
        name: getattr(args, name) for name in ("project", "domain") if getattr(args, name)
    }
    if args.kinds:
        given["kinds"] = _listed(args.kinds, KINDS)
    made = context.client.webhooks.create(name=args.name, url=args.url, **given)

    def tell() -> None:
        say(f"Added the webhook {made['id']}. Its secret, shown only this once:")
        print_line(made["secret"])

    context.answer(made, tell)
    return 0


def update_arguments(parser: Arguments) -> None:
    parser.add_argument("webhook", metavar="ID", help="as carrel webhook ls shows it")
    parser.add_argument("--name", metavar="N", help="what it is for")
    parser.add_argument("--url", metavar="URL", help="where messages are posted to")
    parser.add_argument("--kinds", metavar="KINDS", help=f"separated by commas: {', '.join(KINDS)}")
    state = parser.add_mutually_exclusive_group()
    state.add_argument("--activate", action="store_true", help="switch it on")
    state.add_argument("--deactivate", action="store_true", help="switch it off")
    parser.example(
        "carrel webhook update kq3v7abcdefg --kinds failed", "carrel webhook update kq3v7abcdefg --deactivate"
    )


def update(args: argparse.Namespace, context: Context) -> int:
    """Change a webhook."""
    given: dict[str, Any] = {name: getattr(args, name) for name in ("name", "url") if getattr(args, name)}
    if args.kinds:
        given["kinds"] = _listed(args.kinds, KINDS)
    if args.activate or args.deactivate:
        given["active"] = args.activate
    changed = context.client.webhooks.update(args.webhook, **given)
    context.answer(changed, lambda: say(f"Changed {changed['name']}."))
    return 0


def rotate_arguments(parser: Arguments) -> None:
    parser.add_argument("webhook", metavar="ID", help="as carrel webhook ls shows it")
    overlap = parser.add_mutually_exclusive_group()
    overlap.add_argument(
        "--overlap",
        metavar="TIME",
        type=reading(parse_duration),
        default=_DAY_S,
        help="how long the present secret remains valid, at most 7d (default: 24h)",
    )
    overlap.add_argument(
        "--at-once", action="store_true", help="the present secret is no longer valid, as when it has leaked"
    )
    yes_argument(parser)
    parser.explain(
        "Replace the secret of a webhook. Until the overlap ends, deliveries have two signatures, so that the\n"
        "receiver can be changed meanwhile. The new secret is shown only once."
    )
    parser.example("carrel webhook rotate kq3v7abcdefg", "carrel webhook rotate kq3v7abcdefg --at-once")


def rotate(args: argparse.Namespace, context: Context) -> int:
    """Replace the secret of a webhook."""
    if not agreed(args, "Replace the secret of {}?", "webhook", [args.webhook]):
        return 1
    made = context.client.webhooks.rotate(args.webhook, overlap_s=0 if args.at_once else int(args.overlap))
    until = made["old_secret_until"]

    def tell() -> None:
        valid = f"is valid until {local_time(until)}" if until else "is no longer valid"
        say(f"The secret before {valid}. The new one, shown only this once:")
        print_line(made["secret"])

    context.answer(made, tell)
    return 0


def remove_arguments(parser: Arguments) -> None:
    parser.add_argument("webhooks", metavar="ID", nargs="+", help="as carrel webhook ls shows them")
    yes_argument(parser)
    parser.example("carrel webhook rm kq3v7abcdefg")


def remove(args: argparse.Namespace, context: Context) -> int:
    """Remove webhooks."""
    if not removal_confirmed(args, "webhook", args.webhooks):
        return 1

    def one(webhook: str) -> tuple[object, str]:
        context.client.webhooks.remove(webhook)
        return {"id": webhook}, f"Removed {webhook}."

    return each(context, args.webhooks, one)


def test_arguments(parser: Arguments) -> None:
    parser.add_argument("webhook", metavar="ID", help="as carrel webhook ls shows it")
    parser.explain("Queue a test message. carrel webhook deliveries shows the result.")
    parser.example("carrel webhook test kq3v7abcdefg")


def test(args: argparse.Namespace, context: Context) -> int:
    """Send a test."""
    queued = context.client.webhooks.test(args.webhook)
    context.answer(
        queued, lambda: say(f"Queued {queued['id']}. See carrel webhook deliveries {args.webhook}.")
    )
    return 0


def deliveries_arguments(parser: Arguments) -> None:
    parser.add_argument("webhook", metavar="ID", help="as carrel webhook ls shows it")
    parser.add_argument("--state", choices=list(_STATES), help="only these")
    parser.add_argument("--limit", metavar="N", type=int, default=50, help="at most so many (default: 50)")
    parser.watches()
    parser.explain("List deliveries of the last 30 days, newest first.")
    parser.example(
        "carrel webhook deliveries kq3v7abcdefg", "carrel webhook deliveries kq3v7abcdefg --state failed"
    )


def deliveries(args: argparse.Namespace, context: Context) -> int:
    """List deliveries."""
    response = context.client.webhooks.deliveries(args.webhook, state=args.state, limit=args.limit)
    columns = [Column("ID"), Column("TYPE"), Column("SESSION"), Column("STATE", _STATES)]
    columns += [Column(title) for title in ("ATTEMPTS", "STATUS", "CREATED", "NEXT", "ERROR")]
    rows = [
        [
            one["id"],
            one["type"],
            one["session"] or "",
            one["state"],
            str(one["attempts"]),
            str(one["status_code"] or ""),
            local_time(one["created_at"]),
            local_time(one["next_at"]),
            one["error"] or "",
        ]
        for one in response["items"]
    ]
    context.answer(response, lambda: print_table(columns, rows))
    return 0


def redeliver_arguments(parser: Arguments) -> None:
    parser.add_argument("webhook", metavar="ID", help="as carrel webhook ls shows it")
    parser.add_argument("delivery", metavar="DELIVERY", help="as carrel webhook deliveries shows it")
    parser.explain("Send a delivery again, with the same webhook-id and body.")
    parser.example("carrel webhook redeliver kq3v7abcdefg msg_abcdefghijklmnopqrstuvwx")


def redeliver(args: argparse.Namespace, context: Context) -> int:
    """Send a delivery again."""
    queued = context.client.webhooks.redeliver(args.webhook, args.delivery)
    context.answer(queued, lambda: say(f"Queued {queued['id']} again."))
    return 0
