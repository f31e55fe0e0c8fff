"""Commands for identity providers."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable

from carrel_client.cli.asking import removal_confirmed, yes_argument
from carrel_client.cli.context import Context
from carrel_client.cli.output import Column, print_facts, print_line, print_table
from carrel_client.cli.parser import Arguments
from carrel_client.cli.people import each
from carrel_client.errors import CarrelError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from carrel_client import models

_STATES = {"on": "green", "off": "red"}
_STEPS = {"ok": "green", "failed": "red"}
_SWITCHES = ("create_users", "may_appoint_superadmins", "require_verified_email", "sign_in_confirms")
_LISTS = ("trusted_email_domains", "scopes", "trusted_factors")
_ON, _OFF = ("on", "true", "yes"), ("off", "false", "no")


def ls_arguments(parser: Arguments) -> None:
    parser.watches()
    parser.example("carrel provider ls", "carrel provider ls -o json | jq '.items[].name'")


def ls(args: argparse.Namespace, context: Context) -> int:
    """List identity providers."""
    found = context.client.providers.list()
    columns = [Column("NAME"), Column("KIND"), Column("STATE", _STATES)]
    columns += [Column(title) for title in ("SERVER", "DOMAIN", "PEOPLE")]
    rows = [
        [
            provider["name"],
            provider["kind"],
            "on" if provider["active"] else "off",
            _server(provider),
            provider["domain"]["name"],
            str(provider["people"]),
        ]
        for provider in found["items"]
    ]
    context.answer(found, lambda: print_table(columns, rows))
    return 0


def show_arguments(parser: Arguments) -> None:
    parser.add_argument("provider", metavar="PROVIDER", help="its name or id")
    parser.explain("Show the configuration of a provider. The secret is never shown.")
    parser.example("carrel provider show corp", "carrel provider show corp -o json | jq .mapping")


def show(args: argparse.Namespace, context: Context) -> int:
    """Show one identity provider."""
    provider = context.client.providers.show(args.provider)
    context.answer(provider, lambda: _print(provider))
    return 0


def add_arguments(parser: Arguments) -> None:
    parser.add_argument("name", metavar="NAME", help="lower-case letters, digits and -; used in URLs")
    parser.add_argument("kind", choices=("oidc", "ldap"), help="OpenID provider or LDAP directory")
    parser.add_argument("settings", metavar="SETTING=VALUE", nargs="*", help="see the examples")
    parser.add_argument("--domain", required=True, help="domain in which new users are created")
    parser.add_argument("--off", action="store_true", help="do not offer it for sign-in yet")
    _shared_arguments(parser)
    parser.explain(
        "Add an identity provider. Separate list items with commas, write switches as on or off. An OpenID\n"
        "provider needs issuer and client_id, a directory host and user_base. See the how-to on single\n"
        "sign-on for all settings, and test them with carrel provider test."
    )
    parser.example(
        "pass show sso | carrel provider add corp oidc issuer=https://login.example.org client_id=carrel "
        "--domain default --secret-stdin",
        "pass show ldap | carrel provider add office ldap host=ldap.example.org "
        "user_base=ou=people,dc=example,dc=org bind_dn=cn=reader,dc=example,dc=org --domain default --secret-stdin",
        "carrel provider add corp oidc issuer=https://login.example.org client_id=carrel --domain default "
        "--map staff=physics --map-admin leads=physics --map-role deans=domain_admin",
    )


def add(args: argparse.Namespace, context: Context) -> int:
    """Add an identity provider."""
    wanted = {
        "name": args.name,
        "domain": args.domain,
        "active": not args.off,
        args.kind: {**_settings(args.settings), **_ca(args.ca)},
        "mapping": _rules(args),
        **_secret(args),
    }
    made = context.client.providers.create(**wanted)
    context.answer(made, lambda: _print(made))
    return 0


def update_arguments(parser: Arguments) -> None:
    parser.add_argument("provider", metavar="PROVIDER", help="its name or id")
    parser.add_argument(
        "settings", metavar="SETTING=VALUE", nargs="*", help="as carrel provider show names them"
    )
    parser.add_argument("--domain", help="domain in which new users are created")
    state = parser.add_mutually_exclusive_group()
    state.add_argument("--on", action="store_true", help="offer it")
    state.add_argument(
        "--off", action="store_true", help="disable it, and sign out users who signed in with it"
    )
    _shared_arguments(parser)
    parser.add_argument("--no-secret", action="store_true", help="delete its secret")
    parser.add_argument("--no-map", action="store_true", help="remove all group mappings")
    parser.explain("Change an identity provider. Any --map replaces all mappings.")
    parser.example(
        "carrel provider update corp label='Our company' trusted_email_domains=example.org",
        "carrel provider update corp --off",
    )


def update(args: argparse.Namespace, context: Context) -> int:
    """Change an identity provider."""
    wanted: dict[str, Any] = _secret(args)
    if args.settings or args.ca is not None:
        now = context.client.providers.show(args.provider)
        options = dict(now[now["kind"]] or {})
        wanted[now["kind"]] = {**options, **_settings(args.settings), **_ca(args.ca)}
    if args.no_secret:
        wanted["secret"] = None
    if args.domain:
        wanted["domain"] = args.domain
    if args.on or args.off:
        wanted["active"] = args.on
    if args.no_map or (rules := _rules(args)):
        wanted["mapping"] = [] if args.no_map else rules
    if not wanted:
        raise CarrelError("usage", "Nothing to change.", status=422, hint="carrel provider update --help")
    changed = context.client.providers.update(args.provider, **wanted)
    context.answer(changed, lambda: _print(changed))
    return 0


def test_arguments(parser: Arguments) -> None:
    parser.add_argument("provider", metavar="PROVIDER", help="its name or id")
    parser.add_argument("--login", metavar="NAME", help="a user to search for in the directory")
    parser.explain("Test an identity provider step by step; exit code 1 if a step fails.")
    parser.example("carrel provider test corp", "carrel provider test office --login ada")


def test(args: argparse.Namespace, context: Context) -> int:
    """Test an identity provider."""
    result = context.client.providers.test(args.provider, **({"login": args.login} if args.login else {}))
    columns = [Column("STEP"), Column("RESULT", _STEPS), Column("WHAT")]
    rows = [[step["name"], "ok" if step["ok"] else "failed", step["sentence"]] for step in result["steps"]]
    context.answer(result, lambda: print_table(columns, rows))
    return 0 if result["ok"] else 1


def rm_arguments(parser: Arguments) -> None:
    parser.add_argument("providers", metavar="PROVIDER", nargs="+", help="names or ids")
    yes_argument(parser)
    parser.explain(
        "Remove identity providers. Users signed in with them (see carrel provider show) are signed out\n"
        "immediately. Their accounts stay, but need another way to sign in."
    )
    parser.example("carrel provider rm corp")


def rm(args: argparse.Namespace, context: Context) -> int:
    """Remove identity providers."""
    if not removal_confirmed(args, "identity provider", args.providers):
        return 1

    def remove(ref: str) -> tuple[object, str]:
        context.client.providers.remove(ref)
        return {"removed": ref}, f"{ref} removed"

    return each(context, args.providers, remove)


def _shared_arguments(parser: Arguments) -> None:
    parser.add_argument("--secret-stdin", action="store_true", help="read its secret from standard input")
    parser.add_argument("--ca", metavar="FILE", help="certificates (PEM) to trust besides this machine's")
    parser.add_argument(
        "--map",
        metavar="GROUP=PROJECT",
        action="append",
        default=[],
        help="members of the group join the project",
    )
    parser.add_argument(
        "--map-admin",
        metavar="GROUP=PROJECT",
        action="append",
        default=[],
        help="they join the project as administrators",
    )
    parser.add_argument(
        "--map-role",
        metavar="GROUP=ROLE",
        action="append",
        default=[],
        help="they become domain_admin or superadmin",
    )


def _settings(given: Iterable[str]) -> dict[str, Any]:
    """Names and values. Raises: CarrelError."""
    found: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals:
            raise CarrelError("usage", f"{text} is not NAME=VALUE.", status=422, hint="Write SETTING=VALUE.")
        if name in _SWITCHES:
            if value.lower() not in _ON + _OFF:
                raise CarrelError("usage", f"{name} must be on or off.", status=422)
            found[name] = value.lower() in _ON
        elif name in _LISTS:
            found[name] = [part for part in value.split(",") if part]
        elif name == "port":
            found[name] = int(value) if value.isdigit() else None
        else:
            found[name] = value
    return found


def _ca(path: str | None) -> dict[str, str]:
    if path is None:
        return {}
    try:
        with open(path, encoding="utf-8") as file:
            return {"ca": file.read()}
    except (OSError, UnicodeDecodeError) as wrong:
        raise CarrelError("usage", f"{path} cannot be read: {wrong}.", status=422) from None


def _secret(args: argparse.Namespace) -> dict[str, Any]:
    return {"secret": sys.stdin.readline().rstrip("\r\n")} if args.secret_stdin else {}


def _rules(args: argparse.Namespace) -> list[dict[str, Any]]:
    rules: list[dict[str, Any]] = [
        {"group": group, "project": project} for group, project in map(_pair, args.map)
    ]
    rules += [
        {"group": group, "project": project, "admin": True} for group, project in map(_pair, args.map_admin)
    ]
    return rules + [{"group": group, "role": role} for group, role in map(_pair, args.map_role)]


def _pair(text: str) -> tuple[str, str]:
    """Group and mapping; group names may contain =. Raises: CarrelError."""
    group, equals, given = text.rpartition("=")
    if not equals:
        raise CarrelError(
            "usage", f"{text} is not a mapping.", status=422, hint="Write GROUP=PROJECT or GROUP=ROLE."
        )
    return group, given


def _server(provider: models.ProviderView) -> str:
    if provider["oidc"]:
        return provider["oidc"]["issuer"]
    return provider["ldap"]["host"] if provider["ldap"] else ""


def _print(provider: models.ProviderView) -> None:
    options: dict[str, Any] = {**(provider["oidc"] or provider["ldap"] or {})}
    facts = [
        ("name", provider["name"]),
        ("kind", provider["kind"]),
        ("state", "on" if provider["active"] else "off"),
        ("domain", provider["domain"]["name"]),
        ("people", f"{provider['people']}, {provider['sign_ins']} signed in now"),
        ("secret", "set" if provider["secret_set"] else "not set"),
        ("redirect URI", provider["redirect_uri"] or ""),
        *((name, _said(value)) for name, value in options.items()),
    ]
    facts += [(f"group {rule['group']}", _gives(rule)) for rule in provider["mapping"]]
    print_facts(facts)
    if not provider["secret_set"]:
        print_line("It has no secret; set one with --secret-stdin if the server requires it.")


def _said(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list):
        return ", ".join(value)
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)


def _gives(rule: models.GroupRuleView) -> str:
    project = rule["project"]
    place = f"{project['name']}{', administrator' if rule['admin'] else ''}" if project else ""
    return "; ".join(part for part in (place, rule["role"] or "") if part) or "nothing any more"
