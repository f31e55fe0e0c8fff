"""Commands for builds of environments from recipes."""

from __future__ import annotations

import argparse
import time
from contextlib import ExitStack
from pathlib import Path

from carrel_client.cli.context import Context
from carrel_client.cli.environments import parts, sentence
from carrel_client.cli.folders import FolderPath, inside
from carrel_client.cli.imports import secret_of
from carrel_client.cli.output import print_facts, print_line, print_text
from carrel_client.cli.parser import Arguments
from carrel_client.cli.people import given
from carrel_client.errors import CarrelError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from carrel_client import models

_VERSION = "environment and version that was built; default version: what sessions start from"
_EVERY_S = 0.7


def build_arguments(parser: Arguments) -> None:
    parser.add_argument("new_name", metavar="NAME[:VERSION]", help="environment, created if there is none")
    parser.add_argument("directory", metavar="CONTEXT", nargs="?", type=Path, help="directory with its files")
    parser.add_argument(
        "-f",
        "--file",
        type=Path,
        metavar="FILE",
        help="Dockerfile, requirements.txt, pyproject.toml (with its uv.lock), environment.yml or devcontainer.json;"
        " with CONTEXT: a path in it",
    )
    parser.add_argument(
        "--folder",
        metavar="FOLDER[:PATH]",
        dest="place",
        help="directory of a folder, which the server reads",
    )
    parser.add_argument(
        "--git",
        metavar="URL",
        help="repository to build; your own git clones it, or the server with --token-file or --key-file",
    )
    parser.add_argument("--ref", metavar="REF", help="branch, tag or commit of the repository")
    parser.add_argument("--path", metavar="DIRECTORY", help="directory of the repository to build")
    secret = parser.add_mutually_exclusive_group()
    secret.add_argument(
        "--token-file", metavar="FILE", help="access token, or USER:PASSWORD, for --git; - is standard input"
    )
    secret.add_argument(
        "--key-file",
        metavar="FILE",
        help="private SSH key without passphrase, such as a deploy key, for --git",
    )
    parser.add_argument(
        "--base", metavar="IMAGE", dest="image", help="image to build on, for recipes that name none"
    )
    parser.add_argument("--note", metavar="TEXT", help="what this version has")
    parser.add_argument("--project", metavar="PROJECT", help="it belongs to this project instead of you")
    _wait_argument(parser)
    parser.explain(
        "Build an environment from a Dockerfile, requirements.txt, pyproject.toml, environment.yml or\n"
        "devcontainer.json, or from a directory, a folder or a Git repository by the conventions of repo2docker:\n"
        "binder/, Dockerfile, environment.yml, requirements.txt, pyproject.toml, apt.txt, runtime.txt, postBuild.\n"
        "Nothing secret should be in the files: all of them may be in the image."
    )
    parser.example(
        "carrel environment build torch -f requirements.txt",
        "carrel environment build torch:2 -f Dockerfile . --wait",
        "carrel environment build bio -f environment.yml --wait",
        "carrel environment build lab --git https://git.example.org/lab/tools --ref v1.2",
        "carrel environment build lab --git https://git.example.org/lab/tools --token-file token.txt",
        "carrel environment build lab --folder projects:lab/image --wait",
    )


def build(args: argparse.Namespace, context: Context) -> int:
    """Build an environment."""
    _require_one_source(args)
    name, version = parts(args.new_name)
    fields: dict[str, Any] = given(args, "note", "project") | ({"version": version} if version else {})
    if args.image:
        fields["base"] = args.image
    made = context.client.environments.build(name=name, **fields, **_sent(args, context))
    return _followed(made, context, wait=args.wait)


def _require_one_source(args: argparse.Namespace) -> None:
    """Raises: CarrelError."""
    contexts = [one for one in (args.git, args.directory, args.place) if one is not None]
    if len(contexts) > 1 or not (contexts or args.file):
        raise CarrelError(
            "client.no_recipe",
            "Give what to build: a file by -f, a directory, a folder by --folder, or a repository by --git.",
            status=422,
            hint="See `carrel environment build --help`.",
        )
    options = {option for option in ("ref", "path", "token_file", "key_file") if getattr(args, option)}
    if options and not args.git:
        option = f"--{min(options).replace('_', '-')}"
        raise CarrelError("client.no_git", f"{option} belongs to --git.", status=422, hint="Give both.")


def _sent(args: argparse.Namespace, context: Context) -> dict[str, Any]:
    if not args.git and not args.directory and not args.place:
        files = {args.file.name: _text(args.file)}
        lock = args.file.with_name("uv.lock")
        if args.file.suffix == ".toml" and lock.is_file():
            files["uv.lock"] = _text(lock)
        return {"files": files, "file": args.file.name}
    chosen = {"file": args.file.as_posix()} if args.file else {}
    if args.directory or not (args.place or args.token_file or args.key_file):
        return chosen | _packed(args, context)
    environments = context.client.environments
    if args.place:
        place = FolderPath(args.place, "") if ":" not in args.place else inside(args.place)
        made = environments.read_context(folder=place.folder, path=place.inner)
    else:
        fields = given(args, "ref", "path") | {
            "token" if args.token_file else "key": secret_of(args.token_file or args.key_file)
        }
        made = environments.fetch_context(url=args.git, **fields)
    return {"context": made["id"], "source": made["source"], **chosen}


def _packed(args: argparse.Namespace, context: Context) -> dict[str, Any]:
    from carrel_client import build_contexts

    more: dict[str, Any] = {}
    with ExitStack() as stack:
        directory = args.directory
        if args.git:
            directory, commit = stack.enter_context(build_contexts.cloned(args.git, args.ref))
            more["source"] = f"{args.git}@{commit}" + (f" {args.path}" if args.path else "")
            directory = _inside(directory, args.path or "")
        elif args.file and args.file.is_file() and not (directory / args.file).is_file():
            more["file"] = args.file.resolve().relative_to(directory.resolve()).as_posix()
        packed = build_contexts.pack(directory)
    return {"context": context.client.environments.send_context(content=packed)["id"], **more}


def _inside(directory: Path, path: str) -> Path:
    """The directory below it. Raises: CarrelError."""
    below = (directory / path).resolve()
    if not below.is_relative_to(directory.resolve()):
        raise CarrelError("client.no_directory", f"{path} is outside of the repository.", status=422)
    if not below.is_dir():
        raise CarrelError("client.no_directory", f"The repository has no directory {path}.", status=422)
    return below


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise CarrelError("client.no_file", f"{path} cannot be read: {error}.", status=422) from error


def rebuild_arguments(parser: Arguments) -> None:
    parser.add_argument("environment", metavar="ENVIRONMENT:VERSION", help="version that was built")
    parser.add_argument(
        "--as", dest="new_version", metavar="VERSION", help="new version (default: the next number)"
    )
    parser.add_argument("--note", metavar="TEXT", help="what the new version has")
    _wait_argument(parser)
    parser.explain(
        "Build another version from the same recipe and files, with the packages and images of now."
    )
    parser.example(
        "carrel environment rebuild torch:1", "carrel environment rebuild torch:1 --as 2026-11 --wait"
    )


def rebuild(args: argparse.Namespace, context: Context) -> int:
    """Build a version again."""
    name, version = _one(args.environment, context)
    made = context.client.environments.rebuild(name, version, **given(args, "new_version", "note"))
    return _followed(made, context, wait=args.wait)


def log_arguments(parser: Arguments) -> None:
    parser.add_argument("environment", metavar="ENVIRONMENT[:VERSION]", help=_VERSION)
    parser.add_argument(
        "-f", "--follow", action="store_true", help="wait for what follows, until the build ends"
    )
    parser.example("carrel environment log torch:2", "carrel environment log torch:2 -f")


def log(args: argparse.Namespace, context: Context) -> int:
    """Print the log of a build."""
    name, version = _one(args.environment, context)
    _print_log(context, name, version, follow=args.follow)
    return 0


def recipe_arguments(parser: Arguments) -> None:
    parser.add_argument("environment", metavar="ENVIRONMENT[:VERSION]", help=_VERSION)
    parser.add_argument("--dockerfile", action="store_true", help="print only the Dockerfile that was built")
    parser.example(
        "carrel environment recipe torch:2", "carrel environment recipe torch:2 --dockerfile > Dockerfile"
    )


def recipe(args: argparse.Namespace, context: Context) -> int:
    """Show what a version was built from."""
    shown = context.client.environments.recipe(*_one(args.environment, context))
    context.answer(shown, lambda: _print_recipe(shown, only=args.dockerfile))
    return 0


def _print_recipe(shown: models.BuildRecipe, *, only: bool) -> None:
    if not only:
        print_facts(
            [
                ("recipe", shown["file"] or shown["kind"]),
                *([("source", shown["source"])] if shown["source"] else []),
                ("images", ", ".join(shown["images"])),
                ("files of the context", str(shown["context_files"])),
            ]
        )
        for path, text in shown["files"].items():
            print_text(f"\n--- {path}\n{text}")
        print_text("\n--- Dockerfile that was built")
    print_text(shown["dockerfile"])


def _followed(made: models.EnvironmentView, context: Context, *, wait: bool) -> int:
    latest = made["versions"][0]
    if wait:
        _print_log(context, made["id"], latest["name"], follow=True, quiet=context.structured)
        versions = context.client.environments.show(made["id"])["versions"]
        latest = next((one for one in versions if one["id"] == latest["id"]), latest)
    context.answer(latest, lambda: print_line(sentence(latest)))
    return 0 if latest["state"] in ("waiting", "running", "ready") else 1


def _print_log(context: Context, name: str, version: str, *, follow: bool, quiet: bool = False) -> None:
    after = 0
    while True:
        part = context.client.environments.log(name, version, after=after)
        if part["text"] and not quiet:
            print_text(part["text"])
        more, after = part["next"] > after, part["next"]
        if part["complete"] or not (follow or more):
            return
        if not more:
            time.sleep(_EVERY_S)


def _one(ref: str, context: Context) -> tuple[str, str]:
    name, version = parts(ref)
    if version is None:
        versions = context.client.environments.show(name)["versions"]
        if not versions:
            raise CarrelError("environment.no_version", f"{name} has no version.", status=404)
        version = versions[0]["name"]
    return name, version


def _wait_argument(parser: Arguments) -> None:
    parser.add_argument(
        "--wait", action="store_true", help="print the log until it is built; exit code 1 if it fails"
    )
