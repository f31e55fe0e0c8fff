"""Commands for templates of sessions."""

from __future__ import annotations

import argparse

from carrel_client.cli.asking import removal_confirmed, yes_argument
from carrel_client.cli.context import Context
from carrel_client.cli.formats import Writer
from carrel_client.cli.output import Column, counted, print_facts, print_line, print_table, say
from carrel_client.cli.parser import Arguments, reading, whole_number
from carrel_client.cli.people import each, given, list_arguments, listed
from carrel_client.cli.session_life import print_started
from carrel_client.cli.session_life import start_arguments as session_start_arguments
from carrel_client.cli.session_request import group_argument, group_fields
from carrel_client.cli.times import local_time, utc_time
from carrel_client.definition import HIDDEN, read_file, template_definition, template_request
from carrel_client.errors import CarrelError
from carrel_client.slots import parse_slot
from carrel_client.units import parse_cpu, parse_duration, parse_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from carrel_client import models

_REF = "id, or the name of a template of yours or of one of your projects"


def ls_arguments(parser: Arguments) -> None:
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--mine", dest="owner", action="store_const", const="me", default="usable", help="only yours"
    )
    which.add_argument(
        "--everyone", dest="owner", action="store_const", const="all", help="all that you may see"
    )
    parser.add_argument("--project", metavar="PROJECT", help="only those of this project")
    list_arguments(parser, "name", "created_at", "updated_at")
    parser.watches("template")
    parser.explain("List templates: yours, and those shared in your projects.")
    parser.example("carrel template ls", "carrel template ls --search train -o json | jq -r '.items[].name'")


def ls(args: argparse.Namespace, context: Context) -> int:
    """List templates."""

    def page(**query: Any) -> models.TemplateList:
        return context.client.templates.list(owner=args.owner, project=args.project, **query)

    response = listed(args, page)
    columns = [Column(title) for title in ("NAME", "PARAMETERS", "PROJECT", "SHARED", "OWNER", "ID")]
    rows = [
        [
            one["name"],
            " ".join(parameter["name"] for parameter in one["parameters"]),
            one["project"]["name"],
            "yes" if one["shared"] else "",
            one["owner"]["email"],
            one["id"],
        ]
        for one in response["items"]
    ]
    context.answer(response, lambda: print_table(columns, rows))
    return 0


def show_arguments(parser: Arguments) -> None:
    parser.add_argument("template", metavar="TEMPLATE", help=_REF)
    parser.example("carrel template show training")


def show(args: argparse.Namespace, context: Context) -> int:
    """Show one template with its parameters."""
    one = context.client.templates.show(args.template)
    context.answer(one, lambda: _print(one))
    return 0


def create_arguments(parser: Arguments) -> None:
    parser.add_argument(
        "new_name", metavar="NAME", nargs="?", help="4 to 48 characters (default: that of the file)"
    )
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument(
        "-f",
        "--file",
        metavar="FILE",
        help="a definition in YAML or JSON, or one with parameters as carrel template export writes it",
    )
    source.add_argument(
        "--from-session", dest="id", metavar="ID", help="take the definition of one of your sessions"
    )
    parser.add_argument("--description", metavar="TEXT", help="description")
    _sharing_arguments(parser)
    parser.explain(
        "Save a template. Texts of a definition refer to parameters as ${name}; $${ stands for the text ${.\n"
        "Who starts a template can read its variables in the session."
    )
    parser.example(
        "carrel template create -f training.yaml --share",
        "carrel template create my-desk --from-session train-3",
    )


def create(args: argparse.Namespace, context: Context) -> int:
    """Save a template."""
    fields: dict[str, Any] = {"from_session": args.id} if args.id else read_file(args.file, template_request)
    fields = {**fields, **given(args, "description", "shared"), "name": args.new_name or fields.get("name")}
    fields.pop("revision", None)
    if not fields["name"]:
        raise CarrelError("client.no_name", "The template has no name.", status=422, hint="Give NAME.")
    made = context.client.templates.create(**fields)
    context.answer(made, lambda: _print(made))
    return 0


def edit_arguments(parser: Arguments) -> None:
    parser.add_argument("template", metavar="TEMPLATE", help=_REF)
    parser.add_argument("--name", help="new name")
    parser.add_argument("--description", metavar="TEXT", help="new description")
    parser.add_argument(
        "-f",
        "--file",
        metavar="FILE",
        help="what replaces its fields; with a revision, only if it is still the latest",
    )
    _sharing_arguments(parser)
    parser.explain("Change a template. Sessions that were started from it are unaffected.")
    parser.example(
        "carrel template edit training --share",
        "carrel template export training > training.yaml  # change it, then:",
        "carrel template edit training -f training.yaml",
    )


def edit(args: argparse.Namespace, context: Context) -> int:
    """Change a template."""
    fields = read_file(args.file, template_request) if args.file else {}
    changed = context.client.templates.update(
        args.template, **{**fields, **given(args, "name", "description", "shared")}
    )
    context.answer(changed, lambda: _print(changed))
    return 0


def start_arguments(parser: Arguments) -> None:
    parser.add_argument("template", metavar="TEMPLATE", help=_REF)
    parser.add_argument(
        "-p",
        "--param",
        metavar="NAME=VALUE",
        action="append",
        type=reading(_value),
        default=[],
        dest="parameters",
        help="value of a parameter; repeatable",
    )
    parser.add_argument("--name", help="name of the session (default: generated)")
    parser.add_argument("--project", help="id or name (default: that of the template)")
    group_argument(
        parser, "resource group instead of those of the template; repeatable, in order of preference"
    )
    parser.add_argument("--cpu", type=reading(parse_cpu), help="cores: 2, 0.5 or 500m")
    parser.add_argument("--mem", type=reading(parse_size), help="memory: 512m, 4g")
    parser.add_argument(
        "--slot",
        metavar="SLOT=AMOUNT",
        action="append",
        type=reading(parse_slot),
        default=[],
        dest="slots",
        help="an accelerator, such as cuda.device=1; repeatable",
    )
    parser.add_argument("--priority", metavar="N", type=reading(whole_number), help="0 to 100, highest first")
    parser.add_argument(
        "--time-limit", metavar="TIME", type=reading(parse_duration), help="end it after this run time: 90m"
    )
    parser.add_argument("--start-at", metavar="TIME", type=reading(utc_time), help="start no earlier")
    parser.add_argument(
        "--dry-run", action="store_true", help="print the request in YAML, and create nothing"
    )
    session_start_arguments(parser)
    parser.explain("Start a session from a template, with your rights and limits. Options override it.")
    parser.example(
        "carrel template start training -p epochs=3 -p data=imagenet --wait",
        "id=$(carrel template start -q training -p epochs=3)",
    )


def start(args: argparse.Namespace, context: Context) -> int:
    """Start a session from a template."""
    slots = {**dict(args.slots), **given(args, "cpu", "mem")}
    body: dict[str, Any] = {
        "parameters": dict(args.parameters),
        **given(args, "name", "project", "priority", "start_at"),
        **group_fields(args.groups),
        **({"slots": slots} if slots else {}),
        **({"time_limit_s": round(args.time_limit)} if args.time_limit else {}),
    }
    if args.dry_run:
        request = context.client.templates.preview(args.template, **body)["session"]
        (context.writer if context.structured else Writer("yaml")).write(request)
        return 0
    return print_started(args, context, context.client.templates.start(args.template, **body))


def export_arguments(parser: Arguments) -> None:
    parser.add_argument("template", metavar="TEMPLATE", help=_REF)
    parser.explain(
        "Print a template in YAML, for carrel template create -f and carrel template edit -f.\n"
        "With -o json, in JSON."
    )
    parser.example("carrel template export training > training.yaml")


def export(args: argparse.Namespace, context: Context) -> int:
    """Print a template as a file."""
    one = context.client.templates.show(args.template)
    if HIDDEN in one["session"].get("env", {}).values():
        say("You may not start it, so values of its environment are shown as ********; an edit keeps them.")
    (context.writer if context.structured else Writer("yaml")).write(template_definition(one))
    return 0


def rm_arguments(parser: Arguments) -> None:
    parser.add_argument("templates", metavar="TEMPLATE", nargs="+", help=_REF)
    yes_argument(parser)
    parser.explain("Delete templates. Sessions that were started from them are unaffected.")
    parser.example("carrel template rm training")


def rm(args: argparse.Namespace, context: Context) -> int:
    """Delete templates; continues after a failure."""
    if not removal_confirmed(args, "template", args.templates):
        return 1

    def one(ref: str) -> tuple[object, str]:
        context.client.templates.remove(ref)
        return {"template": ref, "removed": True}, f"{ref} deleted"

    return each(context, args.templates, one)


def _sharing_arguments(parser: Arguments) -> None:
    either = parser.add_mutually_exclusive_group()
    either.add_argument(
        "--share",
        dest="shared",
        action="store_const",
        const=True,
        help="the members of its project see and start it",
    )
    either.add_argument(
        "--private", dest="shared", action="store_const", const=False, help="only you see it (default)"
    )


def _value(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise ValueError(f"{text!r} is not NAME=VALUE, as epochs=3")
    return name, value


def _print(one: models.TemplateView) -> None:
    print_facts(
        [
            ("id", one["id"]),
            ("name", one["name"]),
            ("description", one["description"]),
            ("owner", one["owner"]["email"]),
            ("project", one["project"]["name"]),
            ("shared", "yes" if one["shared"] else "no"),
            ("revision", f"{one['revision']}, {local_time(one['updated_at'])}"),
            ("image", str(one["session"].get("image", ""))),
            ("command", " ".join(map(str, one["session"].get("command", [])))),
            *(("parameter", _parameter(parameter)) for parameter in one["parameters"]),
        ]
    )
    if not one["parameters"]:
        print_line(f"It has {counted(0, 'parameter')}.")


def _parameter(one: models.Parameter) -> str:
    """ "epochs: integer, 1 to 100, default 3: Passes over the data."."""
    least, most = one.get("min"), one.get("max")
    limits = ""
    if least is not None and most is not None:
        limits = f", {least} to {most}"
    elif least is not None or most is not None:
        limits = f", at least {least}" if most is None else f", at most {most}"
    choices = f" of {', '.join(one.get('choices', []))}" if one.get("choices") else ""
    default = one.get("default")
    shown = ", required" if default is None else f", default {_json_word(default)}"
    about = f": {one['description']}" if one.get("description") else ""
    return f"{one['name']}: {one.get('type', 'text')}{choices}{limits}{shown}{about}"


def _json_word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value) or '""'
