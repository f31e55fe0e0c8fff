"""Commands for identity providers."""

from __future__ import annotations

import argparse

from carrel_client.cli.asking import removal_confirmed, yes_argument
from carrel_client.cli.context import Context
from carrel_client.cli.kinds import (
    given_settings,
    kind_argument,
    named,
    print_kinds,
    setting_text,
    unset_argument,
)
from carrel_client.cli.output import Column, print_facts, print_table
from carrel_client.cli.parser import Arguments
from carrel_client.cli.people import each
from carrel_client.errors import CarrelError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from carrel_client import models

_STATES = {"on": "green", "off": "red"}
_STEPS = {"ok": "green", "failed": "red"}


def ls_arguments(parser: Arguments) -> None:
    parser.watches()
    parser.example("carrel provider ls", "carrel provider ls -o json | jq '.items[].name'")


def ls(args: argparse.Namespace, context: Context) -> int:
    """List identity providers."""
    response = context.client.providers.list()
    columns = [Column("NAME"), Column("KIND"), Column("STATE", _STATES)]
    columns += [Column(title) for title in ("SERVER", "DOMAIN", "PEOPLE")]
    rows = [
        [
            provider["name"],
            provider["kind"],
            "on" if provider["active"] else "off",
            provider["server"],
            provider["domain"]["name"],
            str(provider["people"]),
        ]
        for provider in response["items"]
    ]
    context.answer(response, lambda: print_table(columns, rows))
    return 0


def show_arguments(parser: Arguments) -> None:
    parser.add_argument("provider", metavar="PROVIDER", help="its name or id")
    parser.explain("Show the configuration of a provider. Its secrets are never shown.")
    parser.example("carrel provider show corp", "carrel provider show corp -o json | jq .mapping")


def show(args: argparse.Namespace, context: Context) -> int:
    """Show one identity provider."""
    provider = context.client.providers.show(args.provider)
    context.answer(provider, lambda: _print(provider))
    return 0


def kinds_arguments(parser: Arguments) -> None:
    parser.explain("List the kinds of identity providers and the settings of each.")
    parser.example(
        "carrel provider kinds", "carrel provider kinds -o json | jq '.items[].settings.properties'"
    )


def kinds(args: argparse.Namespace, context: Context) -> int:
    """List the kinds of identity providers."""
    print_kinds(context, context.client.provider_kinds.list())
    return 0


def add_arguments(parser: Arguments) -> None:
    kind_argument(parser, "provider_kind")
    parser.add_argument("name", metavar="NAME", help="lower-case letters, digits and -; used in URLs")
    parser.add_argument("--domain", required=True, help="domain in which new users are created")
    parser.add_argument("--off", action="store_true", help="add it disabled")
    _map_arguments(parser)
    parser.kind_of = lambda context, kind: named(context.client.provider_kinds.list()["items"], kind)
    parser.explain(
        "Add an identity provider. Each setting of the kind is an option after KIND. See the how-to on single sign-on\n"
        "for all settings, and test them with carrel provider test."
    )
    parser.example(
        "pass show sso | carrel provider add oidc corp --domain default --issuer https://login.example.org "
        "--client-id carrel --client-secret -",
        "pass show ldap | carrel provider add ldap office --domain default --host ldap.example.org "
        "--user-base ou=people,dc=example,dc=org --bind-dn cn=reader,dc=example,dc=org --bind-password -",
        "carrel provider add oidc corp --domain default --issuer https://login.example.org --client-id carrel "
        "--map staff=physics --map-admin leads=physics --map-role deans=domain_admin",
        "carrel provider add ldap --help",
    )


def add(args: argparse.Namespace, context: Context) -> int:
    """Add an identity provider."""
    fields = {
        "kind": args.provider_kind,
        "name": args.name,
        "domain": args.domain,
        "active": not args.off,
        "settings": given_settings(args),
        "mapping": _rules(args),
    }
    made = context.client.providers.create(**fields)
    context.answer(made, lambda: _print(made))
    return 0


def update_arguments(parser: Arguments) -> None:
    parser.add_argument("provider", metavar="PROVIDER", help="its name or id")
    parser.add_argument("--domain", help="domain in which new users are created")
    state = parser.add_mutually_exclusive_group()
    state.add_argument("--on", action="store_true", help="enable it")
    state.add_argument(
        "--off", action="store_true", help="disable it, and sign out users who signed in with it"
    )
    unset_argument(parser)
    _map_arguments(parser)
    parser.add_argument("--no-map", action="store_true", help="remove all group mappings")
    parser.kind_of = lambda context, provider: named(
        context.client.provider_kinds.list()["items"], context.client.providers.show(provider)["kind"]
    )
    parser.explain(
        "Change an identity provider. Each setting of its kind is an option after PROVIDER. Any --map replaces all\n"
        "mappings."
    )
    parser.example(
        "carrel provider update corp --label 'Our company' --trusted-email-domains example.org",
        "carrel provider update corp --unset client-secret",
        "carrel provider update corp --off",
    )


def update(args: argparse.Namespace, context: Context) -> int:
    """Change an identity provider."""
    changes: dict[str, Any] = {}
    if settings := given_settings(args):
        changes["settings"] = settings
    if args.domain:
        changes["domain"] = args.domain
    if args.on or args.off:
        changes["active"] = args.on
    if args.no_map or (rules := _rules(args)):
        changes["mapping"] = [] if args.no_map else rules
    if not changes:
        raise CarrelError("usage", "Nothing to change.", status=422, hint="carrel provider update --help")
    changed = context.client.providers.update(args.provider, **changes)
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


def _map_arguments(parser: Arguments) -> None:
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


def _print(provider: models.ProviderView) -> None:
    facts = [
        ("name", provider["name"]),
        ("kind", provider["kind"]),
        ("state", "on" if provider["active"] else "off"),
        ("domain", provider["domain"]["name"]),
        ("people", f"{provider['people']}, {provider['sign_ins']} signed in now"),
        ("redirect URI", provider["redirect_uri"] or ""),
        *((name, setting_text(value)) for name, value in provider["settings"].items()),
        *((name, "set") for name in provider["secrets"]),
    ]
    facts += [(f"group {rule['group']}", _gives(rule)) for rule in provider["mapping"]]
    print_facts(facts)


def _gives(rule: models.GroupRuleView) -> str:
    project = rule["project"]
    place = f"{project['name']}{', administrator' if rule['admin'] else ''}" if project else ""
    return "; ".join(part for part in (place, rule["role"] or "") if part) or "nothing any more"
