"""Commands for keypairs, personal tokens and SSH keys."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable

from carrel_client.cli.asking import agreed, removal_confirmed, yes_argument
from carrel_client.cli.context import Context
from carrel_client.cli.output import Column, print_line, print_table, say
from carrel_client.cli.parser import Arguments
from carrel_client.cli.people import each
from carrel_client.cli.times import local_time
from carrel_client.errors import CarrelError

_YES = {"yes": "green", "no": "dim"}


def keypairs_arguments(parser: Arguments) -> None:
    parser.add_argument(
        "--owner", metavar="ID", default="me", help="a user's id, or all that you administer (default: me)"
    )
    parser.watches()
    parser.example("carrel keypair ls", "carrel keypair ls --owner all -o json")


def keypairs(args: argparse.Namespace, context: Context) -> int:
    """List keypairs."""
    response = context.client.keypairs.list(owner=args.owner)
    columns = [Column(title) for title in ("ACCESS KEY", "NAME", "OWNER")]
    columns += [Column("ACTIVE", _YES), Column("LIMIT"), Column("CREATED"), Column("LAST USED")]
    rows = [
        [
            pair["access_key"],
            pair["name"],
            pair["owner"]["email"],
            "yes" if pair["active"] else "no",
            str(pair["rate_limit"] or ""),
            local_time(pair["created_at"]),
            local_time(pair["last_used_at"], "never"),
        ]
        for pair in response["items"]
    ]
    context.answer(response, lambda: print_table(columns, rows))
    return 0


def create_keypair_arguments(parser: Arguments) -> None:
    parser.add_argument("--name", metavar="N", default="", help="description")
    parser.explain(
        "Create a keypair for a script. The secret is shown only once. The output can be sourced by a shell."
    )
    parser.example("carrel keypair create --name ci", "carrel keypair create > ci.env && chmod 600 ci.env")


def create_keypair(args: argparse.Namespace, context: Context) -> int:
    """Create a keypair."""
    made = context.client.keypairs.create(name=args.name)
    context.answer(made, lambda: _export_keypair(context, made["access_key"], made["secret_key"]))
    return 0


def rotate_keypair_arguments(parser: Arguments) -> None:
    parser.add_argument("access_key", metavar="ACCESS_KEY", help="as carrel keypair ls shows it")
    yes_argument(parser)
    parser.explain(
        "Replace the secret of one of your keypairs. The new secret is shown only once; "
        "the old one stops working immediately."
    )
    parser.example("carrel keypair rotate CK0123456789ABCDEF01")


def rotate_keypair(args: argparse.Namespace, context: Context) -> int:
    """Rotate a keypair's secret, and update the local profile that uses it."""
    from carrel_client.profiles import load, names, save

    if not agreed(args, "Rotate the secret of {}?", "keypair", [args.access_key]):
        return 1
    made = context.client.keypairs.rotate(args.access_key)
    for name in names(os.environ):
        profile = load(name, os.environ)
        if profile and (profile.url, profile.access_key) == (
            context.client.transport.target.url,
            args.access_key,
        ):
            profile.secret_key = made["secret_key"]
            say(f"kept in {save(profile, os.environ)}")
    context.answer(made, lambda: _export_keypair(context, made["access_key"], made["secret_key"]))
    return 0


def update_keypair_arguments(parser: Arguments) -> None:
    parser.add_argument("access_key", metavar="ACCESS_KEY", help="as carrel keypair ls shows it")
    parser.add_argument("--name", metavar="N", help="description")
    state = parser.add_mutually_exclusive_group()
    state.add_argument("--activate", action="store_true", help="activate the keypair")
    state.add_argument("--deactivate", action="store_true", help="deactivate the keypair")
    parser.add_argument(
        "--rate-limit",
        metavar="N",
        type=int,
        help="requests per 15 minutes, 0 for the installation's default; for administrators",
    )
    parser.example(
        "carrel keypair update CK0123456789ABCDEF01 --deactivate",
        "carrel keypair update CK0123456789ABCDEF01 --rate-limit 5000",
    )


def update_keypair(args: argparse.Namespace, context: Context) -> int:
    """Change a keypair."""
    changes: dict[str, object] = {}
    if args.name is not None:
        changes["name"] = args.name
    if args.activate or args.deactivate:
        changes["active"] = args.activate
    if args.rate_limit is not None:
        changes["rate_limit"] = args.rate_limit or None
    changed = context.client.keypairs.update(args.access_key, **changes)  # type: ignore[arg-type]
    context.answer(changed, lambda: print_line(f"{args.access_key} is changed"))
    return 0


def remove_keypair_arguments(parser: Arguments) -> None:
    parser.add_argument(
        "access_keys", metavar="ACCESS_KEY", nargs="+", help="as carrel keypair ls shows them"
    )
    yes_argument(parser)
    parser.example("carrel keypair rm CK0123456789ABCDEF01")


def remove_keypair(args: argparse.Namespace, context: Context) -> int:
    """Delete keypairs; continues after a failure."""
    if not removal_confirmed(args, "keypair", args.access_keys):
        return 1
    return _remove(context, "access_key", args.access_keys, context.client.keypairs.remove)


def tokens_arguments(parser: Arguments) -> None:
    parser.watches()
    parser.example("carrel token ls")


def tokens(args: argparse.Namespace, context: Context) -> int:
    """List personal tokens."""
    response = context.client.tokens.list()
    columns = [Column(title) for title in ("ID", "NAME", "SCOPES", "EXPIRES", "LAST USED")]
    rows = [
        [
            token["id"],
            token["name"],
            " ".join(token["scopes"]),
            local_time(token["expires_at"], "never"),
            local_time(token["last_used_at"], "never"),
        ]
        for token in response["items"]
    ]
    context.answer(response, lambda: print_table(columns, rows))
    return 0


def create_token_arguments(parser: Arguments) -> None:
    parser.add_argument("name", metavar="NAME", help="description")
    parser.add_argument(
        "--scope",
        metavar="S",
        action="append",
        required=True,
        help='an action such as session.read, all on one kind ("session.*"), or "*"; may be repeated',
    )
    parser.add_argument(
        "--days", metavar="N", type=int, default=90, help="days until it expires; 0: never (default: 90)"
    )
    parser.explain(
        "Create a personal token for a script: it acts as you, within its scopes, until it expires. It is\n"
        "shown only once; use it as CARREL_TOKEN or `Authorization: Bearer`. docs/reference/permissions.md\n"
        "lists the actions."
    )
    parser.example(
        "carrel token create nightly --scope 'session.*' --scope image.read --days 30",
        "CARREL_URL=http://localhost:8700 CARREL_TOKEN=carrel_... carrel session ls",
    )


def create_token(args: argparse.Namespace, context: Context) -> int:
    """Create a personal token."""
    made = context.client.tokens.create(name=args.name, scopes=args.scope, expires_in_days=args.days or None)
    url = context.client.transport.target.url
    context.answer(made, lambda: _exports(CARREL_URL=url, CARREL_TOKEN=made["token"]))
    return 0


def remove_token_arguments(parser: Arguments) -> None:
    parser.add_argument("ids", metavar="ID", nargs="+", help="as carrel token ls shows them")
    yes_argument(parser)
    parser.example("carrel token rm k3fabcdefghi")


def remove_token(args: argparse.Namespace, context: Context) -> int:
    """Revoke tokens; continues after a failure."""
    if not removal_confirmed(args, "token", args.ids):
        return 1
    return _remove(context, "id", args.ids, context.client.tokens.remove)


def ssh_keys_arguments(parser: Arguments) -> None:
    parser.watches()
    parser.example("carrel ssh-key ls")


def ssh_keys(args: argparse.Namespace, context: Context) -> int:
    """List SSH keys."""
    response = context.client.ssh_keys.list()
    columns = [Column(title) for title in ("ID", "NAME", "FINGERPRINT", "CREATED")]
    rows = [
        [key["id"], key["name"], key["fingerprint"], local_time(key["created_at"])]
        for key in response["items"]
    ]
    context.answer(response, lambda: print_table(columns, rows))
    return 0


def add_ssh_key_arguments(parser: Arguments) -> None:
    parser.add_argument("name", metavar="NAME", help="description")
    parser.add_argument("--file", metavar="PATH", help="a public key; - for standard input")
    parser.explain(
        "Add a public SSH key. Without --file a pair is generated: the private key is printed once on\n"
        "standard output, in the format of ssh, and everything else on standard error. The key opens\n"
        "your sessions by SSH until you delete it; carrel ssh needs no key."
    )
    parser.example(
        "carrel ssh-key add laptop --file ~/.ssh/id_ed25519.pub",
        "(umask 077 && carrel ssh-key add desk > ~/.ssh/carrel)",
    )


def add_ssh_key(args: argparse.Namespace, context: Context) -> int:
    """Add an SSH key, or generate a pair."""
    made = context.client.ssh_keys.add(name=args.name, public_key=_content(args.file))

    def show() -> None:
        say(f"{made['name']} is added: {made['fingerprint']} ({made['id']})")
        if made["private_key"]:
            sys.stdout.write(made["private_key"].rstrip("\n") + "\n")
            say(
                "This is the private key, which cannot be shown again. Store it in a file that only you can read."
            )

    context.answer(made, show)
    return 0


def remove_ssh_key_arguments(parser: Arguments) -> None:
    parser.add_argument("ids", metavar="ID", nargs="+", help="as carrel ssh-key ls shows them")
    yes_argument(parser)
    parser.example("carrel ssh-key rm k3fabcdefghi")


def remove_ssh_key(args: argparse.Namespace, context: Context) -> int:
    """Delete SSH keys."""
    if not removal_confirmed(args, "SSH key", args.ids):
        return 1
    return _remove(context, "id", args.ids, context.client.ssh_keys.remove)


def _content(path: str | None) -> str | None:
    if path is None:
        return None
    if path == "-":
        return sys.stdin.read()
    try:
        with open(os.path.expanduser(path), encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as wrong:
        raise CarrelError("client.file", f"{path} cannot be read: {wrong}.", status=422) from None


def _exports(**variables: str) -> None:
    """Lines for a shell to source."""
    sys.stdout.writelines(f"export {name}={value}\n" for name, value in variables.items())


def _export_keypair(context: Context, access_key: str, secret_key: str) -> None:
    url = context.client.transport.target.url
    _exports(CARREL_URL=url, CARREL_ACCESS_KEY=access_key, CARREL_SECRET_KEY=secret_key)


def _remove(context: Context, field: str, ids: Iterable[str], remove: Callable[[str], None]) -> int:
    def one(ref: str) -> tuple[object, str]:
        remove(ref)
        return {field: ref, "deleted": True}, f"{ref} is deleted"

    return each(context, ids, one)
