"""Commands for single users and lists. `users_many` creates many."""

from __future__ import annotations

import argparse
import sys

from carrel_client.cli.asking import agreed, yes_argument
from carrel_client.cli.context import Context
from carrel_client.cli.output import Column, print_facts, print_line, print_table
from carrel_client.cli.parser import Arguments
from carrel_client.cli.people import each, given, list_arguments, listed, sessions_argument
from carrel_client.cli.times import local_time
from carrel_client.slots import slots_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from carrel_client import models

ROLES = ("user", "domain_admin", "superadmin")
STATES = ("active", "inactive", "unverified")
_COLOURS = {"active": "green", "inactive": "dim", "unverified": "yellow", "purged": "dim"}


def ls_arguments(parser: Arguments) -> None:
    list_arguments(parser, "email", "name", "created_at", "last_seen_at")
    parser.add_argument("--state", choices=(*STATES, "purged"), help="only those in this state")
    parser.add_argument("--role", choices=("user", "project_admin", *ROLES[1:]), help="only this role")
    parser.add_argument("--domain", metavar="DOMAIN", help="only those of this domain")
    parser.add_argument("--project", metavar="ID", help="only those in this project")
    parser.add_argument("-q", "--quiet", action="store_true", help="print e-mails only")
    parser.watches("user")
    parser.explain("List the users that you administer, newest first; for ordinary users: yourself.")
    parser.example(
        "carrel user ls --search ada",
        "carrel user ls --state inactive --sort last_seen_at",
        "carrel user ls --limit 0 -o json > users.json",
    )


def ls(args: argparse.Namespace, context: Context) -> int:
    """List users."""

    def page(**filters: Any) -> models.UserList:
        return context.client.users.list(
            state=args.state, role=args.role, domain=args.domain, project=args.project, **filters
        )

    response = listed(args, page)
    columns = [Column("E-MAIL"), Column("NAME"), Column("STATE", _COLOURS)]
    columns += [Column(title) for title in ("ROLE", "DOMAIN", "PROJECTS", "2ND FACTOR", "LAST SEEN")]
    rows = [
        [
            user["email"],
            user["name"],
            user["state"],
            user["role"],
            user["domain"]["name"],
            _projects(user),
            "yes" if user["second_factor"] else "no",
            local_time(user["last_seen_at"], "never"),
        ]
        for user in response["items"]
    ]

    def show() -> None:
        if args.quiet:
            sys.stdout.writelines(f"{row[0]}\n" for row in rows)
        else:
            print_table(columns, rows)

    context.answer(response, show)
    return 0


def show_arguments(parser: Arguments) -> None:
    _user(parser)
    parser.example("carrel user show ada@example.org")


def show(args: argparse.Namespace, context: Context) -> int:
    """Show one user."""
    user = context.client.users.show(args.user)
    context.answer(user, lambda: _print(user))
    return 0


def create_arguments(parser: Arguments) -> None:
    parser.add_argument("email", metavar="E-MAIL", help="e-mail for signing in")
    parser.add_argument("name", metavar="NAME", help="their name")
    fields(parser)
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument("--password-stdin", action="store_true", help="read a password from standard input")
    ways.add_argument(
        "--generate-password", action="store_true", help="generate a password and print it once"
    )
    ways.add_argument("--link", action="store_true", help="print a one-time link to set a password")
    parser.explain(
        "Create a user. They must change the given or generated password at the first sign-in, unless\n"
        "--keep-password is given. Without a password or link they sign in with an identity provider."
    )
    parser.example(
        "carrel user create ada@example.org 'Ada Lovelace' --project vision --link",
        "carrel user create bot@example.org Bot --generate-password --keep-password",
    )


def create(args: argparse.Namespace, context: Context) -> int:
    """Make a user."""
    fields = fields_of(args)
    if args.password_stdin:
        fields["password"] = sys.stdin.readline().rstrip("\r\n")
    made = context.client.users.create(
        email=args.email, name=args.name, generate_password=args.generate_password, link=args.link, **fields
    )

    def show() -> None:
        print_line(f"{made['email']} created ({made['id']})")
        if made["password"]:
            print_line(f"password: {made['password']}")
        if made["link"]:
            print_line(f"link: {made['link']['url']}")

    context.answer(made, show)
    return 0


def update_arguments(parser: Arguments) -> None:
    _user(parser)
    parser.add_argument("--name", help="their name")
    fields(parser)
    parser.add_argument("--no-projects", action="store_true", help="remove them from all projects")
    parser.add_argument("--no-addresses", action="store_true", help="allow sign-in from any address")
    parser.add_argument(
        "--must-change-password", action="store_true", help="require a new password at the next sign-in"
    )
    sessions_argument(parser)
    parser.explain(
        "Change a user. Projects and addresses are replaced completely. Another domain removes them from all\n"
        "projects; their live sessions must end."
    )
    parser.example(
        "carrel user update ada@example.org --role domain_admin",
        "carrel user update ada@example.org --project vision --project speech",
        "carrel user update ada@example.org --domain physics --sessions end",
    )


def update(args: argparse.Namespace, context: Context) -> int:
    """Change a user."""
    changes = {**fields_of(args), **given(args, "name", "sessions")}
    if args.no_projects:
        changes["projects"] = []
    if args.no_addresses:
        changes["addresses"] = []
    if args.must_change_password:
        changes["must_change_password"] = True
    changed = context.client.users.update(args.user, **changes)
    context.answer(changed, lambda: _print(changed))
    return 0


def disable_arguments(parser: Arguments) -> None:
    _users(parser)
    sessions_argument(parser)
    yes_argument(parser)
    parser.explain(
        "Disable users: sign them out immediately and reject their keypairs and tokens. If they have live\n"
        "sessions, those are listed and --sessions is required to keep or end them."
    )
    parser.example("carrel user disable ada@example.org --sessions end")


def disable(args: argparse.Namespace, context: Context) -> int:
    """Disable users."""
    if not agreed(args, "Disable {}?", "user", args.users):
        return 1

    def change(ref: str) -> tuple[object, str]:
        changed = context.client.users.update(ref, state="inactive", **given(args, "sessions"))
        return changed, f"{changed['email']} is inactive"

    return each(context, args.users, change)


def activate_arguments(parser: Arguments) -> None:
    _users(parser)
    parser.example("carrel user activate ada@example.org")


def activate(args: argparse.Namespace, context: Context) -> int:
    """Enable users."""

    def change(ref: str) -> tuple[object, str]:
        changed = context.client.users.update(ref, state="active")
        return changed, f"{changed['email']} is active"

    return each(context, args.users, change)


def fields(parser: Arguments) -> None:
    """Add the arguments of create and update."""
    parser.add_argument("--domain", metavar="DOMAIN", help="name or id of their domain")
    parser.add_argument(
        "--project", metavar="PROJECT", action="append", help="a project of theirs; repeatable"
    )
    parser.add_argument("--role", choices=ROLES, help="role")
    parser.add_argument("--state", choices=STATES, help="state; only active users may sign in")
    parser.add_argument("--description", help="description")
    parser.add_argument(
        "--address", metavar="NETWORK", action="append", help="an address or network for sign-in; repeatable"
    )
    parser.add_argument("--keep-password", action="store_true", help="they need not change their password")


def fields_of(args: argparse.Namespace) -> dict[str, Any]:
    """The given arguments as request fields."""
    lists = {"projects": args.project, "addresses": args.address}
    return {
        **given(args, "domain", "role", "state", "description"),
        **{field: values for field, values in lists.items() if values},
        **({"must_change_password": False} if args.keep_password else {}),
    }


def _user(parser: Arguments) -> None:
    parser.add_argument("user", metavar="USER", help="their e-mail or id")


def _users(parser: Arguments) -> None:
    parser.add_argument("users", metavar="USER", nargs="+", help="e-mails or ids")


def _projects(user: models.UserView | models.UserDetail) -> str:
    return ", ".join(
        f"{project['name']} (administrator)" if project["admin"] else project["name"]
        for project in user["projects"]
    )


def _print(user: models.UserDetail) -> None:
    print_facts(
        [
            ("e-mail", user["email"]),
            ("name", user["name"]),
            ("id", user["id"]),
            ("state", user["state"]),
            ("role", user["role"]),
            ("domain", user["domain"]["name"]),
            ("projects", _projects(user)),
            ("description", user["description"]),
            ("password", _password(user)),
            ("2nd factor", "yes" if user["second_factor"] else "no"),
            ("providers", ", ".join(user["providers"])),
            ("addresses", ", ".join(user["addresses"]) or "any"),
            ("keypairs", str(user["keypairs"])),
            ("sign-ins", str(user["logins"])),
            ("allocated", slots_text(user["used"]) or "nothing"),
            ("live sessions", str(user["live_sessions"])),
            ("created", local_time(user["created_at"])),
            ("last seen", local_time(user["last_seen_at"], "never")),
        ]
    )


def _password(user: models.UserDetail) -> str:
    if not user["has_password"]:
        return "none"
    return "must be changed" if user["must_change_password"] else "set"
