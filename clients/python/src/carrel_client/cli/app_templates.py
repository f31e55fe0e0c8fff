"""Commands for the catalogue of apps."""

from __future__ import annotations

import argparse

from carrel_client.cli.asking import removal_confirmed, yes_argument
from carrel_client.cli.context import Context
from carrel_client.cli.formats import Writer
from carrel_client.cli.output import Column, print_facts, print_table
from carrel_client.cli.parser import Arguments
from carrel_client.cli.people import each, given, list_arguments, listed
from carrel_client.definition import read_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from carrel_client import models

_REF = "id, or a name: of several with it, the nearest to you"
_SCOPES = ("person", "project", "installation", "builtin")
_FIELDS = (
    "name",
    "title",
    "icon",
    "protocol",
    "port",
    "command",
    "env",
    "ready",
    "path",
    "auth_header",
    "options",
    "requires",
    "hint",
)


def ls_arguments(parser: Arguments) -> None:
    parser.add_argument("--scope", choices=_SCOPES, help="only those of yours, of projects, ...")
    parser.add_argument("--project", metavar="PROJECT", help="only those of this project")
    list_arguments(parser, "name", "title")
    parser.watches("app_template")
    parser.explain(
        "List the catalogue of apps. In a session, of several with one name, the nearest is used: the owner's, the\n"
        "project's, the installation's, then the built-in one."
    )
    parser.example("carrel app-template ls", "carrel app-template ls --scope person")


def ls(args: argparse.Namespace, context: Context) -> int:
    """List the catalogue of apps."""

    def page(**query: Any) -> models.AppTemplateList:
        return context.client.app_templates.list(scope=args.scope, project=args.project, **query)

    response = listed(args, page)
    columns = [Column(title) for title in ("NAME", "TITLE", "SCOPE", "PORT", "REQUIRES", "ENABLED", "ID")]
    rows = [
        [
            one["name"],
            one["title"],
            one["project"]["name"] if one["project"] else one["scope"],
            str(one["port"]),
            one["requires"],
            "yes" if one["enabled"] else "no",
            one["id"],
        ]
        for one in response["items"]
    ]
    context.answer(response, lambda: print_table(columns, rows))
    return 0


def show_arguments(parser: Arguments) -> None:
    parser.add_argument("app_template", metavar="APP_TEMPLATE", help=_REF)
    parser.example("carrel app-template show tensorboard")


def show(args: argparse.Namespace, context: Context) -> int:
    """Show one app template."""
    one = context.client.app_templates.show(args.app_template)
    context.answer(one, lambda: _print(one))
    return 0


def create_arguments(parser: Arguments) -> None:
    _file_argument(parser, required=True)
    owner = parser.add_mutually_exclusive_group()
    owner.add_argument("--project", metavar="PROJECT", help="for the sessions of this project")
    owner.add_argument("--installation", action="store_true", help="for all sessions")
    _enabled_arguments(parser)
    parser.explain(
        "Add an app template from a file; without --project and --installation, for your own sessions. Words of its\n"
        "command and values of env may contain {port}, {secret}, {base_url} and the names of options in braces."
    )
    parser.example(
        "carrel app-template create -f dash.yaml",
        "carrel app-template create -f dash.yaml --project vision",
    )


def create(args: argparse.Namespace, context: Context) -> int:
    """Add an app template."""
    owner: dict[str, Any] = {**given(args, "project", "enabled"), "installation": args.installation}
    made = context.client.app_templates.create(**_definition(args.file), **owner)
    context.answer(made, lambda: _print(made))
    return 0


def edit_arguments(parser: Arguments) -> None:
    parser.add_argument("app_template", metavar="APP_TEMPLATE", help=_REF)
    _file_argument(parser, required=False)
    _enabled_arguments(parser)
    parser.explain(
        "Change the fields that the file has. Apps that run have the changes when they start again."
    )
    parser.example(
        "carrel app-template export dash > dash.yaml  # change it, then:",
        "carrel app-template edit dash -f dash.yaml",
        "carrel app-template edit dash --disable",
    )


def edit(args: argparse.Namespace, context: Context) -> int:
    """Change an app template."""
    fields = _definition(args.file) if args.file else {}
    fields.pop("name", None)
    changed = context.client.app_templates.update(args.app_template, **fields, **given(args, "enabled"))
    context.answer(changed, lambda: _print(changed))
    return 0


def export_arguments(parser: Arguments) -> None:
    parser.add_argument("app_template", metavar="APP_TEMPLATE", help=_REF)
    parser.explain("Print an app template, also a built-in one, as a file for create and edit.")
    parser.example("carrel app-template export tensorboard > tensorboard.yaml")


def export(args: argparse.Namespace, context: Context) -> int:
    """Print an app template in YAML."""
    one = context.client.app_templates.show(args.app_template)
    fields = {field: one[field] for field in _FIELDS if one[field] not in ("", [], {})}  # type: ignore[literal-required]
    context.answer(fields, lambda: Writer("yaml").write(fields))
    return 0


def rm_arguments(parser: Arguments) -> None:
    parser.add_argument("app_templates", metavar="APP_TEMPLATE", nargs="+", help=_REF)
    yes_argument(parser)
    parser.explain("Delete app templates. Apps that were started from them keep running.")
    parser.example("carrel app-template rm dash")


def rm(args: argparse.Namespace, context: Context) -> int:
    """Delete app templates."""
    if not removal_confirmed(args, "app template", args.app_templates):
        return 1

    def remove(ref: str) -> tuple[object, str]:
        context.client.app_templates.remove(ref)
        return {"app_template": ref, "removed": True}, f"{ref} deleted"

    return each(context, args.app_templates, remove)


def _definition(path: str) -> dict[str, Any]:
    return read_file(path, dict)


def _file_argument(parser: Arguments, *, required: bool) -> None:
    parser.add_argument(
        "-f",
        "--file",
        metavar="FILE",
        required=required,
        help="YAML or JSON, as carrel app-template export writes it",
    )


def _enabled_arguments(parser: Arguments) -> None:
    either = parser.add_mutually_exclusive_group()
    either.add_argument("--enable", dest="enabled", action="store_const", const=True, help="use it")
    either.add_argument(
        "--disable",
        dest="enabled",
        action="store_const",
        const=False,
        help="do not use it, nor those of its name that are further away",
    )


def _print(one: models.AppTemplateView) -> None:
    print_facts(
        [
            ("id", one["id"]),
            ("name", one["name"]),
            ("title", one["title"]),
            ("scope", one["project"]["name"] if one["project"] else one["scope"]),
            ("enabled", "yes" if one["enabled"] else "no"),
            ("protocol", f"{one['protocol']}, port {one['port']}"),
            ("command", " ".join(one["command"])),
            ("path", one["path"]),
            ("requires", one["requires"]),
            *[
                (f"option {option['name']}", f"{option['title']}, default {option['default'] or '(none)'}")
                for option in one["options"]
            ],
        ]
    )
