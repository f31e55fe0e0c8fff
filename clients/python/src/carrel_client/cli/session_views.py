"""Commands that show sessions."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Iterable
from datetime import UTC, datetime

from carrel_client.cli.arrays import array_counts, array_name, display_name
from carrel_client.cli.context import Context
from carrel_client.cli.formats import Writer
from carrel_client.cli.output import (
    Column,
    print_facts,
    print_table,
    say,
    sentences,
    state_column,
    write_bytes,
)
from carrel_client.cli.parser import Arguments, container_argument, reading, whole_number
from carrel_client.cli.saved_views import find
from carrel_client.cli.times import age, local_time, moment
from carrel_client.definition import HIDDEN, definition_of, exact_reference
from carrel_client.errors import CarrelError
from carrel_client.slots import slots_text
from carrel_client.units import format_cpu, format_duration, format_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from carrel_client import models

_PAGE = 200
_SORTABLE = ("name", "state", "image")
_RULES = {"traffic": "no traffic", "use": "little use", "lifetime": "lifetime"}
_BARS = "▁▂▃▄▅▆▇█"


def ls_arguments(parser: Arguments) -> None:
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--all", dest="state", action="store_const", const="all", help="include ended sessions"
    )
    which.add_argument(
        "--ended", dest="state", action="store_const", const="ended", help="only ended sessions"
    )
    which.add_argument("--state", metavar="STATE", help="only this state, such as PENDING")
    parser.add_argument("--search", metavar="TEXT", help="part of name or image")
    parser.add_argument("--domain", metavar="DOMAIN", help="only of this domain, by id or name")
    parser.add_argument("--project", metavar="PROJECT", help="only of this project, by id or name")
    parser.add_argument("--group", metavar="GROUP", help="only in this resource group, by id or name")
    parser.add_argument("--node", metavar="NODE", help="only with a container on this node, by id or name")
    whose = parser.add_mutually_exclusive_group()
    whose.add_argument(
        "--everyone",
        dest="owner",
        action="store_const",
        const="all",
        help="include other users' sessions that you may see",
    )
    whose.add_argument(
        "--shared",
        dest="owner",
        action="store_const",
        const="shared",
        help="other users' sessions that are shared with you",
    )
    whose.add_argument("--owner", metavar="USER", help="only this user's, by id or e-mail")
    parser.add_argument("--kind", choices=["interactive", "batch", "inference"], help="only this type")
    parser.add_argument(
        "--view", metavar="VIEW", help="by a view that you saved on the page; other options go first"
    )
    parser.add_argument("--array", metavar="ID", help="the sessions of this array, by its id or name")
    parser.add_argument("-q", "--quiet", action="store_true", help="print only ids, one per line")
    parser.add_argument("--limit", type=reading(whole_number), default=50, help="maximum number; 0 for all")
    parser.watches("session")
    parser.explain(
        "List sessions, newest first; by default only live ones. An array is one row; --array lists its sessions,\n"
        "by default all of them."
    )
    parser.example(
        "carrel session ls",
        "carrel session ls --ended --limit 10",
        "carrel session ls --array sweep --state ERROR",
        "carrel session ls --shared",
        "carrel session ls --view 'failed last week'",
        "carrel session ls -q | xargs carrel session rm --yes",
        "carrel session ls -o json | jq -r '.items[].name'",
    )


def ls(args: argparse.Namespace, context: Context) -> int:
    """List sessions."""
    response = _listed(args, context)

    def show() -> None:
        if args.quiet:
            sys.stdout.writelines(f"{session['id']}\n" for session in response["items"])
        else:
            _print_sessions(response["items"])
        if response["next_cursor"] and not args.quiet:
            say(f"These are the newest {args.limit}; use --limit for more.")

    context.answer(response, show)
    return 0


def show_arguments(parser: Arguments) -> None:
    parser.add_argument("id", metavar="ID", help="id, unique id prefix, or name")
    parser.example("carrel session show train-3", "carrel session show k3f -o json | jq -r .state")


def show(args: argparse.Namespace, context: Context) -> int:
    """Show one session."""
    session = context.client.sessions.show(args.id)

    def show() -> None:
        print_session(session)
        if session["state"] == "RUNNING":
            rules = context.client.sessions.idle(args.id)["rules"]
            print_facts([(_RULES[rule["rule"]], rule_text(rule)) for rule in rules])

    context.answer(session, show)
    return 0


def export_arguments(parser: Arguments) -> None:
    parser.add_argument("id", metavar="ID", help="id, unique id prefix, or name")
    parser.add_argument(
        "--exact-image",
        action="store_true",
        help="by the digest of the image that it ran, whatever its tag means now",
    )
    parser.explain(
        "Print the definition of a session in YAML, for carrel run -f and carrel session create -f.\n"
        "With -o json, in JSON."
    )
    parser.example(
        "carrel session export train-3 > job.yaml",
        "carrel session export train-3 --exact-image > job.yaml",
        "carrel session export sweep -o json",
    )


def export(args: argparse.Namespace, context: Context) -> int:
    """Print a session's definition."""
    session = context.client.sessions.show(args.id)
    try:
        definition = definition_of(session, exact_image=args.exact_image)
    except ValueError as error:
        raise CarrelError("session.image_not_pinned", f"{session['name']}: {error}.", status=409) from error
    if HIDDEN in session["env"].values():
        say("The values of its environment are visible only to its owner, and left out.")
    (context.writer if context.structured else Writer("yaml")).write(definition)
    return 0


def history_arguments(parser: Arguments) -> None:
    parser.add_argument("id", metavar="ID", help="id, unique id prefix, or name")
    parser.explain("Show every state transition of a session, oldest first: time, reason and actor.")
    parser.example("carrel session history train-3")


def history(args: argparse.Namespace, context: Context) -> int:
    """Show a session's transitions."""
    response = context.client.sessions.history(args.id)
    columns = [Column("AT"), state_column(), Column("CAUSE"), Column("BY"), Column("REASON")]
    rows = [
        [local_time(step["at"]), step["to_state"], step["cause"], step["actor"] or "", step["reason"] or ""]
        for step in response["items"]
    ]
    context.answer(response, lambda: print_table(columns, rows))
    return 0


def logs_arguments(parser: Arguments) -> None:
    parser.add_argument("id", metavar="ID", help="id, unique id prefix, or name")
    parser.add_argument("-f", "--follow", action="store_true", help="follow until the session ends")
    parser.add_argument("--tail", type=reading(whole_number), metavar="N", help="only the last N lines")
    parser.add_argument(
        "--since",
        metavar="TIME",
        type=reading(moment),
        help="only lines from then on: a time such as 2026-01-31T14:00Z, or how long ago, such as 10m",
    )
    parser.add_argument("--until", metavar="TIME", type=reading(moment), help="only lines before: as --since")
    parser.add_argument("--grep", metavar="TEXT", help="only lines with this text, in any case")
    which = parser.add_mutually_exclusive_group()
    for name in ("stdout", "stderr"):
        which.add_argument(
            f"--{name}-only",
            dest="stream",
            action="store_const",
            const=name,
            help=f"only standard {'output' if name == 'stdout' else 'error'}",
        )
    parser.add_argument("-t", "--timestamps", action="store_true", help="begin each line with its time (UTC)")
    parser.add_argument(
        "--attempt",
        metavar="N",
        type=reading(whole_number),
        help="only this life of the container, from 1: a new one begins when it is created again",
    )
    container_argument(parser)
    parser.explain(
        "Print the log of a session: what its main process prints; for apps, see carrel app logs. Logs are kept after "
        "its end, up to the size in the policy. With -o json: one object per line with time, stream and text."
    )
    parser.example(
        "carrel session logs train-3 --tail 100",
        "carrel session logs train-3 --follow",
        "carrel session logs train-3 --since 1h --grep error --timestamps",
    )


def logs(args: argparse.Namespace, context: Context) -> int:
    """Print a session's log."""
    blocks = context.client.sessions.stream_logs(
        args.id,
        follow=args.follow,
        as_json=context.structured,
        container=args.container,
        attempt=args.attempt,
        tail=args.tail,
        since=args.since,
        until=args.until,
        search=args.grep,
        stream=args.stream,
        timestamps=args.timestamps or None,
    )
    if context.structured:
        for line in _lines(blocks):
            context.writer.write_line(json.loads(line))
        return 0
    for block in blocks:
        write_bytes(block)
    return 0


def result_text(session: models.SessionDetail) -> str:
    """The result of a batch session, with the exit code of its command: "failure (exit code 3)"."""
    code = session["containers"][0]["exit_code"]
    exited = f" (exit code {code})" if code is not None else ""
    return (session["result"] or "").replace("_", " ") + exited if session["result"] else ""


def _ran(session: models.SessionDetail) -> str:
    """What the main container ran; "" if that is not known."""
    main = next(iter(session["containers"]), None)
    return (exact_reference(main) or main.get("image_id") or "") if main else ""


def warn_of_deprecated(session: models.SessionDetail) -> None:
    """Say on stderr that the image of a new session is deprecated, and what to use instead."""
    if deprecated := session.get("image_deprecated"):
        instead = deprecated["successor"]
        image = session["image_name"] or session["image"]
        say(f"The image {image} is deprecated." + (f" Use {instead} instead." if instead else ""))


def print_session(session: models.SessionDetail) -> None:
    """Print the details of a session."""
    print_facts(
        [
            ("id", session["id"]),
            ("name", session["name"]),
            (
                "array",
                f"{display_name(session)}, {array_counts(session['array'])}" if session["array"] else "",
            ),
            ("description", session["description"]),
            ("template", template_text(session["template"])),
            ("kind", session["kind"]),
            ("command", shlex.join(session["command"])),
            ("retries", str(session["retries"] or "")),
            ("state", session["state"]),
            ("result", result_text(session)),
            ("reason", session["reason"] or ""),
            ("progress", progress_text(session)),
            ("image", session["image_name"] or session["image"]),
            ("ran", _ran(session)),
            ("slots", slots_text(session["slots"])),
            ("cluster", cluster_text(session)),
            ("group", session["group"]["name"]),
            ("accepts", groups_text(session)),
            ("priority", str(session["priority"])),
            ("time limit", format_duration(session["time_limit_s"]) if session["time_limit_s"] else ""),
            *(("after", after_text(one)) for one in session["after"]),
            *(("before", f"{_name(one)} ({_state(one)})") for one in session["dependants"]),
            ("shared memory", format_size(session["shm_bytes"]) if session["shm_bytes"] else ""),
            ("disk limit", format_size(session["disk_limit_bytes"]) if session["disk_limit_bytes"] else ""),
            ("workdir", session["workdir"] or ""),
            ("time zone", session["timezone"] or ""),
            ("locale", session["locale"] or ""),
            (
                "stops by",
                f"{session['stop_signal']}, {session['grace_s']} s"
                if (session["stop_signal"], session["grace_s"]) != ("SIGTERM", 10)
                else "",
            ),
            ("bootstrap", first_line(session["bootstrap"])),
            ("project", session["project"]["name"]),
            ("owner", session["owner"]["email"]),
            ("shared with you", f"to {session['shared_as']}" if session["shared_as"] else ""),
            ("rights", "root" if session["rights"] == "root" else ""),
            ("node", session["node"] or ""),
            ("created", local_time(session["created_at"])),
            ("starts after", local_time(session["start_at"])),
            ("started", local_time(session["started_at"])),
            ("ended", local_time(session["ended_at"])),
            ("ends idle", local_time(session["idle_ends_at"])),
            ("ends at its limit", local_time(session["limit_ends_at"])),
            ("apps", ", ".join(app["name"] for app in session["apps"])),
            *(("folder", mount_text(mount)) for mount in session["mounts"]),
            ("env", " ".join(f"{name}={value}" for name, value in session["env"].items())),
            *(("warning", warning) for warning in session["warnings"]),
            *(("container", container_text(one)) for one in session["containers"]),
        ]
    )


def groups_text(session: models.SessionDetail) -> str:
    """The resource groups that a session accepts, in order of preference: "a100, cloud"; "" if only one."""
    names = [group["name"] for group in session["accepted_groups"]]
    return ", ".join(names) if len(names) > 1 else ""


def template_text(origin: models.TemplateOrigin | None) -> str:
    """The template that a session was started from: "training, revision 2"."""
    return f"{origin['name']}, revision {origin['revision']}" if origin else ""


def first_line(script: str) -> str:
    """The first line of a script that is no comment, and the number of lines: "pip install torch (12 lines)"."""
    lines = script.strip().splitlines()
    shown = next((line for line in lines if line.strip() and not line.startswith("#")), "")
    return f"{shown.strip()} ({len(lines)} lines)" if len(lines) > 1 else shown.strip()


def rule_text(rule: models.IdleRuleView) -> str:
    """The idle time by a rule: "for 12 min of 1 h; ends in 48 min"."""
    most = format_duration(rule["limit_s"])
    if rule["since"] is None or rule["ends_at"] is None:
        return f"not now; it ends after {most}"
    now = datetime.now(UTC)
    gone_s = max(0, round((now - datetime.fromisoformat(rule["since"])).total_seconds()))
    left_s = int((datetime.fromisoformat(rule["ends_at"]) - now).total_seconds())
    # The server checks periodically, and waits a minute for late activity.
    ends = f"in {format_duration(left_s)}" if left_s > 0 else "any moment now"
    return f"for {format_duration(gone_s)} of {most}; ends {ends}"


def after_text(one: models.DependencyView) -> str:
    """A dependency: "prepare-data:succeeded (RUNNING)", "sweep[1-3]:ended (2 running, 1 done)"."""
    met = {True: ", met", False: ", cannot be met", None: ""}[one["met"]]
    return f"{_name(one)}:{one['condition']} ({_state(one)}{met})"


def _name(one: models.DependencyView) -> str:
    return array_name(one["array"]) if one["array"] else one["name"] or "a session that you may not see"


def _state(one: models.DependencyView) -> str:
    return array_counts(one["array"]) if one["array"] else one["state"]


def cluster_text(session: models.SessionDetail) -> str:
    """Of a session of several containers: "3 containers, spread within one rack; continues without one that fails"."""
    if session["cluster_size"] == 1:
        return ""
    failure = "continues without one that fails" if session["on_failure"] == "continue" else "ends with any"
    within = f" within one {session['topology']}" if session["topology"] else ""
    return f"{session['cluster_size']} containers, {session['placement']}{within}; {failure}"


def container_text(container: models.ContainerView) -> str:
    """State, node and slots of a container: "sub1 (abcdefghijkl), RUNNING on node3; cpu 2, mem 4 GiB"."""
    node = f" on {container['node']}" if container["node"] else ""
    code = f", exit code {container['exit_code']}" if container["exit_code"] is not None else ""
    slots = slots_text(container["slots"])
    return f"{container['name']} ({container['id']}), {container['state']}{node}{code}; {slots}"


def mount_text(mount: models.MountView) -> str:
    """A mount: "data/train at /home/work/data, read-only"."""
    what = "/".join(filter(None, [mount["folder_name"], mount["subpath"]]))
    return f"{what} at {mount['path']}{', read-only' if mount['read_only'] else ''}"


def progress_text(session: models.SessionView | models.SessionDetail) -> str:
    """The progress of a session in transition; empty for others."""
    progress = session["progress"]
    if progress:
        fraction = progress["fraction"]
        return progress["text"] + (f" {fraction:.0%}" if fraction is not None else "")
    position = session["queue_position"]
    return f"number {position} in the queue" if position else ""


def _listed(args: argparse.Namespace, context: Context) -> models.SessionList:
    """The pages up to the limit as one list."""
    array = context.client.sessions.show(args.array)["array_id"] if args.array else None
    if args.array and not array:
        raise CarrelError("client.no_array", f"{args.array} is not an array.", status=422)
    limit = args.limit or sys.maxsize
    view: dict[str, Any] = dict(find(context, args.view)["search"]) if args.view else {}
    order = "-" if view.get("order") == "desc" else ""
    response: models.SessionList = {"items": [], "next_cursor": None}
    while True:
        size = min(_PAGE, limit - len(response["items"]))
        page = context.client.sessions.list(
            state=args.state or view.get("state") or ("all" if array else "live"),
            q=args.search or view.get("q"),
            owner="all" if array else args.owner or view.get("owner") or "me",
            kind=args.kind or view.get("kind"),
            array=array or view.get("array"),
            domain=args.domain or view.get("domain"),
            project=args.project or view.get("project"),
            group=args.group or view.get("group"),
            node=args.node or view.get("node"),
            sort=order + view["sort"] if view.get("sort") in _SORTABLE else None,
            limit=size,
            cursor=response["next_cursor"],
        )
        response = {**page, "items": response["items"] + page["items"]}
        if not page["next_cursor"] or len(response["items"]) >= limit:
            return response


def _print_sessions(sessions: list[models.SessionView]) -> None:
    now = datetime.now(UTC)
    columns = [Column("ID"), Column("NAME"), state_column(), Column("IMAGE")]
    columns += [Column(title) for title in ("CPU", "MEM", "AGE", "NOTE")]
    rows = [
        [
            session["id"],
            display_name(session) + (f" ×{session['cluster_size']}" if session["cluster_size"] > 1 else ""),
            session["state"],
            session["image_name"] or session["image"],
            format_cpu(session["slots"]["cpu"]),
            format_size(session["slots"]["mem"]),
            age(now, session["created_at"]),
            _note(session),
        ]
        for session in sessions
    ]
    print_table(columns, rows)


def _note(session: models.SessionView) -> str:
    if session["array"]:
        return array_counts(session["array"])
    return sentences(session["reason"], progress_text(session), *session["warnings"])


def sparkline(values: list[int], width: int = 40) -> str:
    """The values as a row of bars; each bar is the maximum of its interval."""
    share = max(1, -(-len(values) // width))
    peaks = [max(values[start : start + share]) for start in range(0, len(values), share)]
    top = max(peaks) or 1
    return "".join(_BARS[min(len(_BARS) - 1, value * len(_BARS) // top)] for value in peaks)


def _lines(blocks: Iterable[bytes]) -> Iterable[str]:
    rest = b""
    for block in blocks:
        *complete, rest = (rest + block).split(b"\n")
        yield from (line.decode("utf-8", "replace") for line in complete)
    if rest:
        yield rest.decode("utf-8", "replace")
