"""Commands for registries of images."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from carrel_client.cli import rescans
from carrel_client.cli.asking import removal_confirmed, yes_argument
from carrel_client.cli.context import Context
from carrel_client.cli.output import Column, print_facts, print_line, print_table
from carrel_client.cli.parser import Arguments
from carrel_client.cli.people import each, given, list_arguments, listed
from carrel_client.cli.progress import ProgressLine
from carrel_client.cli.times import local_time
from carrel_client.errors import CarrelError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from carrel_client import models

KINDS = ("generic", "dockerhub", "harbor", "ghcr", "gitlab", "ngc", "ecr", "quay")
_SCANS = {"done": "green", "failed": "red"}
_FASTEST_S, _SLOWEST_S = 0.1, 2.0
_STEPS = {"ok": "green", "failed": "red"}


def ls_arguments(parser: Arguments) -> None:
    list_arguments(parser, "name", "created_at")
    parser.watches("registry")
    parser.explain("List the registries of projects and domains that you administer; for superadmins all.")
    parser.example("carrel registry ls", "carrel registry ls -o json | jq -r '.items[].host'")


def ls(args: argparse.Namespace, context: Context) -> int:
    """List registries."""
    response = listed(args, context.client.registries.list)
    titles = ("NAME", "KIND", "URL", "NAMESPACE", "SIGNS IN AS", "SCOPE", "ID")
    rows = [
        [
            one["name"],
            one["kind"],
            one["url"],
            one["namespace"],
            one["username"] if one["has_secret"] else "",
            _scope(one),
            one["id"],
        ]
        for one in response["items"]
    ]
    context.answer(response, lambda: print_table([Column(title) for title in titles], rows))
    return 0


def show_arguments(parser: Arguments) -> None:
    parser.add_argument("registry", metavar="REGISTRY", help="its name or id")
    parser.explain("Show the settings of a registry. Its secret is never shown.")
    parser.example("carrel registry show hub")


def show(args: argparse.Namespace, context: Context) -> int:
    """Show one registry."""
    registry = context.client.registries.show(args.registry)
    context.answer(registry, lambda: _print(registry))
    return 0


def add_arguments(parser: Arguments) -> None:
    parser.add_argument("name", metavar="NAME", help="lower-case letters and digits, with _ . - between them")
    parser.add_argument("--kind", choices=KINDS, help="default: generic")
    scope = parser.add_mutually_exclusive_group()
    scope.add_argument("--project", metavar="PROJECT", help="for this project, which you administer")
    scope.add_argument("--domain", metavar="DOMAIN", help="for this domain, which you administer")
    _settings(parser)
    parser.explain(
        "Add a registry for a project or a domain; without them for what you administer: the installation, your\n"
        "domain or your only project. Check it with carrel registry check.\n"
        "The public address of dockerhub, ghcr, gitlab, ngc and quay need not be given."
    )
    parser.example(
        "carrel registry add hub --kind dockerhub --namespace library --repository python --tag '3.*-slim'",
        "pass show ngc | carrel registry add nvidia --kind ngc --namespace nvidia --repository pytorch "
        "--secret-file -",
        "pass show aws | carrel registry add aws --kind ecr --username AKIAIOSFODNN7EXAMPLE "
        "--url https://123456789012.dkr.ecr.eu-central-1.amazonaws.com --secret-file -",
        "carrel registry add ours --kind harbor --url https://harbor.example.org --namespace ml "
        "--username 'robot$carrel' --secret-file robot.txt --ca-file ca.pem",
    )


def add(args: argparse.Namespace, context: Context) -> int:
    """Add a registry."""
    made = context.client.registries.create(
        name=args.name, **given(args, "kind", "project", "domain"), **_given(args)
    )
    context.answer(made, lambda: print_line(f"{made['name']} added ({made['id']})"))
    return 0


def update_arguments(parser: Arguments) -> None:
    parser.add_argument("registry", metavar="REGISTRY", help="its name or id")
    parser.add_argument("--name", help="new name")
    _settings(parser)
    parser.explain(
        "Change a registry. A list that is given replaces the present one; '' removes a value. Moving it to another\n"
        "address needs its secret again."
    )
    parser.example(
        "carrel registry set hub --tag '3.12*' --tag '3.13*'",
        "carrel registry set ours --ca-file new-ca.pem",
        "carrel registry set ours --push members --push-repository 'team/*'",
        "carrel registry set ours --read-packages",
    )


def update(args: argparse.Namespace, context: Context) -> int:
    """Change a registry."""
    changes = given(args, "name") | _given(args)
    if not changes:
        raise CarrelError("usage", "Nothing to change.", status=422, hint="carrel registry set --help")
    changed = context.client.registries.update(args.registry, **changes)
    context.answer(changed, lambda: _print(changed))
    return 0


def check_arguments(parser: Arguments) -> None:
    parser.add_argument("registry", metavar="REGISTRY", help="its name or id")
    parser.explain("Check a registry step by step, as a scan uses it; exit code 1 if a step fails.")
    parser.example("carrel registry check hub")


def check(args: argparse.Namespace, context: Context) -> int:
    """Check a registry."""
    result = context.client.registries.check(args.registry)
    columns = [Column("STEP"), Column("RESULT", _STEPS), Column("WHAT")]
    rows = [[step["name"], "ok" if step["ok"] else "failed", step["sentence"]] for step in result["steps"]]
    context.answer(result, lambda: print_table(columns, rows))
    return 0 if result["ok"] else 1


def scan_arguments(parser: Arguments) -> None:
    parser.add_argument("registry", metavar="REGISTRY", nargs="?", help="its name or id")
    parser.add_argument("--all", action="store_true", help="scan all registries of the installation")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--no-wait", action="store_true", help="do not wait until it has ended")
    what.add_argument("--cancel", action="store_true", help="cancel the running scan; what it has read stays")
    what.add_argument("--list", action="store_true", help="list the latest scans")
    parser.explain(
        "Read the permitted repositories and tags of a registry into the catalogue of images; exit code 1\n"
        "if that fails. Images that are known cost one request each. An interrupted scan goes on by itself."
    )
    parser.example(
        "carrel registry scan hub",
        "carrel registry scan hub --list",
        "carrel registry scan hub --cancel",
        "carrel registry scan --all",
    )


def scan(args: argparse.Namespace, context: Context) -> int:
    """Scan a registry, or all."""
    if rescans.chosen(args, args.registry, "registry"):
        return rescans.scan(args, context, "registries")
    registries = context.client.registries
    if args.list:
        response = registries.scans(args.registry)
        context.answer(response, lambda: _print_scans(response["items"]))
        return 0
    scan = registries.cancel_scan(args.registry) if args.cancel else registries.scan(args.registry)
    if not args.no_wait and not args.cancel:
        scan = _ended(context, args.registry, scan)
    context.answer(scan, lambda: _print_scans([scan]))
    return 1 if scan["state"] in ("failed", "cancelled") else 0


def rm_arguments(parser: Arguments) -> None:
    parser.add_argument("registries", metavar="REGISTRY", nargs="+", help="names or ids")
    yes_argument(parser)
    parser.explain("Remove registries. Nothing is deleted there.")
    parser.example("carrel registry rm old")


def rm(args: argparse.Namespace, context: Context) -> int:
    """Remove registries."""
    if not removal_confirmed(args, "registry", args.registries):
        return 1

    def remove(ref: str) -> tuple[object, str]:
        context.client.registries.remove(ref)
        return {"registry": ref, "removed": True}, f"{ref} removed"

    return each(context, args.registries, remove)


def _ended(context: Context, registry: str, scan: models.RegistryScanView) -> models.RegistryScanView:
    """The scan once it has ended; its progress is on stderr meanwhile."""
    pause_s = _FASTEST_S
    with ProgressLine(after_s=1.0) as line:
        while scan["ended_at"] is None:
            total, done = scan["repositories"], scan["repositories_done"]
            share = done / total if total else None
            line.update(f"Scanned {done} of {total or '?'} repositories, {scan['tags']} tags", share)
            time.sleep(pause_s)
            pause_s = min(pause_s * 1.5, _SLOWEST_S)
            listed = context.client.registries.scans(registry)["items"]
            scan = next((one for one in listed if one["id"] == scan["id"]), scan)
    return scan


def _print_scans(scans: list[models.RegistryScanView]) -> None:
    titles = (
        "REPOSITORIES",
        "FAILED",
        "TAGS",
        "ADDED",
        "UPDATED",
        "REMOVED",
        "LAYERS",
        "REQUESTED",
        "PROBLEM",
    )
    rows = [
        [
            one["state"],
            f"{one['repositories_done']}/{'?' if one['repositories'] is None else one['repositories']}",
            *(
                str(one[name])
                for name in ("repositories_failed", "tags", "added", "updated", "removed", "layers")
            ),
            local_time(one["created_at"]),
            one["problem"] or "",
        ]
        for one in scans
    ]
    columns = [Column("STATE", _SCANS), *(Column(title) for title in titles)]
    print_table(columns, rows)


def _settings(parser: Arguments) -> None:
    parser.add_argument("--url", help="scheme, host and port; http:// is used without encryption")
    parser.add_argument("--namespace", help="beginning of its repository names, such as a Harbor project")
    parser.add_argument("--username", help="account or robot to sign in as")
    parser.add_argument("--secret-file", metavar="FILE", help="with its password or token; - reads the input")
    parser.add_argument("--no-secret", action="store_true", help="sign in no longer")
    parser.add_argument("--ca-file", metavar="FILE", help="certificates of its authority, in PEM")
    parser.add_argument("--mirror", metavar="URL", help="scan and pull from this registry instead")
    enabled = parser.add_mutually_exclusive_group()
    enabled.add_argument(
        "--enable-images", action="store_true", help="sessions may use what scans add (default)"
    )
    enabled.add_argument(
        "--disable-images",
        action="store_true",
        help="sessions may use only images that carrel image edit --enable has enabled",
    )
    packages = parser.add_mutually_exclusive_group()
    packages.add_argument(
        "--read-packages",
        action="store_true",
        help="scans download layers, each once, to read the package databases in them",
    )
    packages.add_argument("--no-read-packages", action="store_true", help="scans do not (default)")
    parser.add_argument(
        "--push",
        choices=("nobody", "members"),
        help="who may push environments: members of its project, domain or the installation (default: nobody)",
    )
    parser.add_argument(
        "--push-repository",
        dest="push_repositories",
        metavar="GLOB",
        action="append",
        help="repositories to which they may push, without the namespace, such as team/*; repeatable",
    )
    parser.add_argument(
        "--repository",
        dest="repositories",
        metavar="GLOB",
        action="append",
        help="allow these repositories, without the namespace; repeatable (default: all)",
    )
    parser.add_argument(
        "--tag",
        dest="tags",
        metavar="GLOB",
        action="append",
        help="allow these tags; repeatable (default: all)",
    )


def _given(args: argparse.Namespace) -> dict[str, Any]:
    values: dict[str, Any] = {
        name: getattr(args, name)
        for name in ("url", "namespace", "username", "mirror", "push")
        if getattr(args, name) is not None
    }
    for name in ("repositories", "tags", "push_repositories"):
        if getattr(args, name) is not None:
            values[name] = [glob for glob in getattr(args, name) if glob]
    if args.secret_file:
        values["secret"] = _read(args.secret_file).rstrip("\r\n")
    elif args.no_secret:
        values["secret"] = ""
    if args.enable_images or args.disable_images:
        values["images_enabled"] = args.enable_images
    if args.read_packages or args.no_read_packages:
        values["read_packages"] = args.read_packages
    if args.ca_file is not None:
        values["ca_pem"] = _read(args.ca_file) if args.ca_file else ""
    return values


def _read(path: str) -> str:
    if path == "-":
        return sys.stdin.read()
    try:
        return Path(path).read_text()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not a text file"
        raise CarrelError("usage", f"{path} cannot be read: {reason}.", status=422) from error


def _scope(registry: models.RegistryView) -> str:
    if registry["project"]:
        return f"project {registry['project']['name']}"
    return f"domain {registry['domain']['name']}" if registry["domain"] else "installation"


def _password_until(registry: models.RegistryView) -> str:
    until = registry.get("password_until")
    return local_time(until) if until else ""


def _print(registry: models.RegistryView) -> None:
    print_facts(
        [
            ("name", registry["name"]),
            ("id", registry["id"]),
            ("kind", registry["kind"]),
            ("url", registry["url"]),
            ("mirror", registry["mirror"]),
            ("references", f"{registry['host']}/{registry['namespace']}".rstrip("/")),
            ("signs in as", registry["username"] if registry["has_secret"] else ""),
            ("password until", _password_until(registry)),
            ("password problem", registry.get("password_problem") or ""),
            ("authority", "set" if registry["ca_pem"] else ""),
            ("repositories", ", ".join(registry["repositories"]) or "all"),
            ("tags", ", ".join(registry["tags"]) or "all"),
            (
                "pushes",
                f"members, to {', '.join(registry['push_repositories'])}"
                if registry["push"] == "members"
                else "nobody",
            ),
            ("images", "" if registry["images_enabled"] else "enabled one by one"),
            ("packages", "read by scans" if registry["read_packages"] else ""),
            ("scope", _scope(registry)),
            ("created", local_time(registry["created_at"])),
        ]
    )
