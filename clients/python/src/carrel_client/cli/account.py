"""Commands for signing in and out."""

from __future__ import annotations

import argparse
import os
import sys

from carrel_client.cli.asking import no_terminal
from carrel_client.cli.context import Context
from carrel_client.cli.output import print_facts, report, say
from carrel_client.cli.parser import Arguments
from carrel_client.cli.steps import finish
from carrel_client.client import ApiClient
from carrel_client.errors import CarrelError
from carrel_client.profiles import DEFAULT, Profile, load, path_of, remove, resolve, save
from carrel_client.wire import ServerAddress, address

TYPE_CHECKING = False
if TYPE_CHECKING:
    from carrel_client import models


def login_arguments(parser: Arguments) -> None:
    parser.add_argument("url", metavar="URL", help="URL of the server, such as https://carrel.example.org")
    parser.add_argument("--email", metavar="E", help="prompts if omitted")
    parser.add_argument("--password-stdin", action="store_true", help="read the password from standard input")
    parser.add_argument(
        "--sso", metavar="PROVIDER", help="sign in with this identity provider, in a local browser"
    )
    parser.add_argument(
        "--print-url", action="store_true", help="with --sso: print the link instead of opening a browser"
    )
    parser.add_argument("--code", help="authenticator or recovery code; prompts if needed")
    parser.explain(
        "Sign in and store a keypair on this machine, in ~/.config/carrel/profiles, readable only by you. The\n"
        "password is not stored. With --profile NAME (or CARREL_PROFILE) you can be signed in\n"
        "to several servers, or as several people; CARREL_URL alone selects the profile of that server.\n"
        "CARREL_URL, CARREL_ACCESS_KEY and CARREL_SECRET_KEY together replace a profile, so that scripts need\n"
        "no sign-in."
    )
    parser.example(
        "carrel login http://localhost:8700 --email ada@example.org",
        "carrel login https://carrel.example.org --email ada@example.org --profile work",
        "carrel login https://carrel.example.org --sso corp",
        "pass show carrel | carrel login https://carrel.example.org --email ada@example.org --password-stdin",
    )


def login(args: argparse.Namespace, context: Context) -> int:
    """Sign in and store a keypair."""
    name = args.profile or os.environ.get("CARREL_PROFILE") or DEFAULT
    path_of(name, os.environ)
    url = address(args.url)
    _warn_of_open_line(url)
    if not args.sso and not sys.stdin.isatty() and not (args.password_stdin and args.email):
        raise no_terminal(
            "There is no terminal to prompt for the e-mail and password.",
            "Use --email and --password-stdin.",
        )
    client = ApiClient(url)
    me = _by_provider(client, args) if args.sso else _by_password(client, args)
    keypair = client.keypairs.create()
    before = _stored(name)
    path = save(
        Profile(
            name,
            url=url,
            access_key=keypair["access_key"],
            secret_key=keypair["secret_key"],
            email=me["user"]["email"],
        ),
        os.environ,
    )
    _retire(before, client)
    client.auth.logout()
    facts = [
        ("signed in as", f"{me['user']['name']} <{me['user']['email']}>"),
        ("server", url),
        ("keypair", f"{keypair['access_key']} in {path}"),
        ("profile", "" if name == DEFAULT else name),
    ]
    context.answer({**me, "csrf_token": None}, lambda: print_facts(facts))
    return 0


def _by_password(client: ApiClient, args: argparse.Namespace) -> models.Me:
    email = args.email or _prompt("E-mail: ")
    password = _password(args.password_stdin)
    return finish(
        client, client.auth.login(email=email, password=password), password=password, code=args.code
    )


def _by_provider(client: ApiClient, args: argparse.Namespace) -> models.Me:
    from carrel_client.cli.sso import sign_in

    me = sign_in(client, args.sso, print_url=args.print_url)
    return finish(client, me, password="", code=args.code)


def logout_arguments(parser: Arguments) -> None:
    parser.explain("Delete the keypair that carrel login created, locally and on the server.")
    parser.example("carrel logout", "carrel logout --profile work")


def logout(args: argparse.Namespace, context: Context) -> int:
    """Delete the stored keypair, locally in any case."""
    name = args.profile or os.environ.get("CARREL_PROFILE") or DEFAULT
    profile = load(name, os.environ)
    if profile is None:
        say("You are not signed in.")
        context.answer({"server": None}, lambda: None)
        return 0
    code = 0
    try:
        ApiClient(profile.url, profile.access_key, profile.secret_key).keypairs.remove(profile.access_key)
    except CarrelError as error:
        if error.status not in (401, 404):
            report(error)
            say(f"The keypair {profile.access_key} was deleted locally, but is still valid on {profile.url}.")
            code = 1
    remove(name, os.environ)
    context.answer({"server": profile.url}, lambda: say(f"Signed out of {profile.url}."))
    return code


def whoami_arguments(parser: Arguments) -> None:
    parser.example("carrel whoami", "carrel whoami -o json | jq -r .user.email")


def whoami(args: argparse.Namespace, context: Context) -> int:
    """Show the current user."""
    me = context.client.auth.me()
    profile = resolve(context.profile, os.environ)
    facts = [
        ("name", me["user"]["name"]),
        ("e-mail", me["user"]["email"]),
        ("role", me["user"]["role"]),
        ("domain", me["user"]["domain"]["name"]),
        ("projects", ", ".join(project["name"] for project in me["projects"])),
        ("server", profile.url),
        ("profile", profile.name or "none: the keypair is from the environment"),
    ]
    context.answer(me, lambda: print_facts(facts))
    return 0


def _warn_of_open_line(url: str) -> None:
    target = ServerAddress(url)
    if not target.secure and not (target.host.startswith("127.") or target.host in ("localhost", "::1")):
        say(f"warning: {target.host} is not encrypted; others on the network can read the password")


def _prompt(question: str) -> str:
    sys.stderr.write(question)
    sys.stderr.flush()
    return sys.stdin.readline().strip()


def _password(from_stdin: bool) -> str:
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    from getpass import getpass

    return getpass("Password: ")


def _stored(name: str) -> Profile | None:
    try:
        return load(name, os.environ)
    except CarrelError:
        return None  # it will be replaced


def _retire(before: Profile | None, client: ApiClient) -> None:
    """Delete the replaced keypair, if it belongs to the same user and server."""
    if before is None or before.url != client.transport.target.url:
        return
    own = {pair["access_key"] for pair in client.keypairs.list()["items"]}
    if before.access_key in own:
        client.keypairs.remove(before.access_key)
