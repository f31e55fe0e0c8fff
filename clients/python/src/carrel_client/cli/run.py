"""`carrel run`: run a command as a batch session."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from carrel_client.cli.arrays import array_counts, display_name, wait_for_array
from carrel_client.cli.asking import answered
from carrel_client.cli.context import Context
from carrel_client.cli.output import print_line, report, say, write_bytes
from carrel_client.cli.parser import Arguments
from carrel_client.cli.session_life import wait_for
from carrel_client.cli.session_request import batch_arguments, session_arguments, session_request
from carrel_client.cli.session_views import warn_of_deprecated
from carrel_client.client import ENDED, SETTLED
from carrel_client.errors import CarrelError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

    from carrel_client import models

_FAILED = 1
_TIMED_OUT = 124
_INTERRUPTED = 130

# Writes the script to a file, so that its first line can name an interpreter.
_RUN_SCRIPT = 'f=$(mktemp) && printf %s "$1" > "$f" && chmod +x "$f" && shift && exec "$f" "$@"'


class _Detached(Exception):
    """Leave the session running."""


class _Terminated(Exception):
    """Terminate the session."""


def run_arguments(parser: Arguments) -> None:
    session_arguments(parser)
    batch_arguments(parser)
    parser.add_argument(
        "--script", metavar="FILE", help="run this local file instead of a command; arguments may follow --"
    )
    parser.add_argument("-d", "--detach", action="store_true", help="print the id and do not wait")
    parser.followed_by_command("script", "file")
    parser.explain(
        "Run a command as a batch session: it starts when there is capacity, runs once, and ends with the\n"
        "command. Its log is printed, and its exit code is returned; 124 at the time limit, 130 if it was\n"
        "cancelled. Ctrl-C asks whether to terminate the session; a second Ctrl-C detaches from it, as does\n"
        "the first one without a terminal. With -o json, the session is printed at its end instead of the log.\n"
        "Of an array the counts are shown instead of logs; the exit code is 0 if all its sessions succeeded."
    )
    parser.example(
        "carrel run --image starter -v data -- python train.py",
        "carrel run --cpu 4 --mem 8g --time-limit 2h --retries 2 -- sh -c 'make -j4 && make test'",
        "carrel run --script job.sh -- --epochs 3",
        "carrel run --cluster-size 4 --cpu 8 -- mpirun python train.py",
        "carrel run --name sweep --array 1-100%8 -- sh -c 'python train.py --seed $CARREL_ARRAY_INDEX'",
        "carrel run --after sweep:ended -v data -- python report.py",
        "carrel run -f job.yaml --cpu 4",
        "id=$(carrel run --detach --name nightly --start-at 2026-12-24T22:00 -- python report.py)",
    )


def run(args: argparse.Namespace, context: Context) -> int:
    """Run a command as a batch session and return its exit code."""
    request = session_request(args)
    request["kind"] = "batch"
    if args.command or args.script:
        request["command"] = _command(args)
    session = context.client.sessions.create(**request)
    warn_of_deprecated(session)
    if args.detach:
        context.answer(session, lambda: print_line(session["id"]))
        return 0
    try:
        with _CtrlC(display_name(session)):
            session = wait_for_array(context, session) if session["array"] else _follow(context, session)
    except _Detached:
        return _say_detached(session)
    except _Terminated:
        context.client.sessions.remove(session["id"], array=session["array"] is not None or None)
        session = (wait_for_array if session["array"] else _wait_for_end)(context, session)
    if context.structured:
        context.writer.write(session)
    return _exit_code_of_array(session, session["array"]) if session["array"] else _exit_code(session)


def _wait_for_end(context: Context, session: models.SessionDetail) -> models.SessionDetail:
    return wait_for(context, session, ENDED, None)


def _command(args: argparse.Namespace) -> list[str]:
    if not args.script:
        return list(args.command)
    try:
        text = Path(args.script).read_text("utf-8") if args.script != "-" else sys.stdin.read()
    except (OSError, UnicodeDecodeError) as error:
        raise CarrelError(
            "client.bad_script", f"The script {args.script} cannot be read: {error}.", status=422
        ) from None
    return ["/bin/sh", "-c", _RUN_SCRIPT, "sh", text, *args.command]


def _follow(context: Context, session: models.SessionDetail) -> models.SessionDetail:
    """Print the log until the session has ended. Returns the session."""
    sessions = context.client.sessions
    session = wait_for(context, session, SETTLED, None)
    if not context.structured:
        for block in sessions.stream_logs(session["id"], follow=True):
            write_bytes(block)
    return _wait_for_end(context, session)


def _say_detached(session: models.SessionDetail) -> int:
    if session["array"]:
        say(
            f"\n{display_name(session)} continues: carrel session ls --array {session['id']}; "
            f"to end it: carrel session rm {session['array']['name']}"
        )
        return _INTERRUPTED
    say(
        f"\n{session['name']} continues. Its log: carrel session logs -f {session['id']}; "
        f"to end it: carrel session rm {session['id']}"
    )
    return _INTERRUPTED


def _exit_code_of_array(session: models.SessionDetail, array: models.ArrayView) -> int:
    """0 if all succeeded."""
    if all(one["result"] == "success" for one in array["counts"]):
        return 0
    report(
        CarrelError(
            "client.run_ended",
            f"{display_name(session)}: {array_counts(array)}.",
            status=409,
            hint=f"carrel session ls --ended --array {session['id']}",
        )
    )
    return _FAILED


def _exit_code(session: models.SessionDetail) -> int:
    """The command's exit code; reports why it did not end by itself."""
    code = session["containers"][0]["exit_code"]
    match session["result"]:
        case "success":
            return 0
        case "failure" if session["state"] == "TERMINATED" and code:
            return code
        case "failure":
            ending, status = "failed", _FAILED
        case "timed_out":
            ending, status = "timed out", _TIMED_OUT
        case _:
            ending, status = "was cancelled", _INTERRUPTED
    report(
        CarrelError(
            "client.run_ended",
            f"{session['name']} {ending}: {session['reason'] or session['state']}",
            status=409,
            hint=f"carrel session history {session['id']}",
        )
    )
    return status


class _CtrlC:
    """Turns Ctrl-C into a question on a terminal, and into detaching elsewhere or when pressed again.

    Raises: _Detached, _Terminated, in the middle of whatever runs.
    """

    def __init__(self, name: str, ask: Callable[[str], str] = answered) -> None:
        self._name = name
        self._ask = ask
        self._asking = False

    def __enter__(self) -> _CtrlC:
        self._before = signal.signal(signal.SIGINT, self._pressed)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._before)

    def _pressed(self, number: int, frame: FrameType | None) -> None:
        if self._asking or not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise _Detached
        self._asking = True
        answer = self._ask(f"\nTerminate {self._name}? [y/N] Ctrl-C again leaves it running. ")
        self._asking = False
        if answer.lower() in ("y", "yes"):
            raise _Terminated
