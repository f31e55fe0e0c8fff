"""Commands that upload, download and copy files and directories."""

from __future__ import annotations

import argparse
import os
import sys
import time

from carrel_client.cli.context import Context
from carrel_client.cli.folders import FolderPath, of_one_folder, place, until_done, waiting_arguments
from carrel_client.cli.output import counted, print_line, printable, report, say, write_bytes
from carrel_client.cli.parser import Arguments, reading, whole_number
from carrel_client.cli.progress import ProgressLine
from carrel_client.cli.vfolder_files import goes_into
from carrel_client.errors import CarrelError
from carrel_client.outcome import Transfer
from carrel_client.units import format_duration, format_size
from carrel_client.workers import Meter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from carrel_client import models
    from carrel_client.outcome import Choice, Clash

_PATIENCE_S = 2.0
_SHOWN = 20
_MOST_PARTS = 16
_ANSWERS: dict[str, Choice] = {"r": "replace", "s": "skip", "k": "rename", "n": "refuse"}


def cp_arguments(parser: Arguments) -> None:
    parser.add_argument(
        "sources",
        metavar="SOURCE",
        nargs="+",
        help="local paths, FOLDER:PATH, or - for standard input; or a folder to clone",
    )
    parser.add_argument("to", metavar="TO", help="a local path or FOLDER:PATH; or the name of the clone")
    parser.add_argument("-r", "--recursive", action="store_true", help="copy directories with their contents")
    _upload_options(parser)
    waiting_arguments(parser)
    parser.explain(
        "Copy files between this machine and a folder, and between folders. A directory is copied into TO\n"
        "under its own name; with a trailing slash only its content is copied. Unchanged files are skipped\n"
        "and interrupted transfers resume, so you can run the same command again. Write a local path that\n"
        "contains a colon as ./a:b."
    )
    parser.example(
        "carrel cp table.csv data:",
        "carrel cp -r ./images data:train",
        "carrel cp -r data:runs/7/ results",
        "carrel cp -r data:train corpus:2026 --clash replace",
        "pg_dump shop | carrel cp - data:shop.sql",
    )


def cp(args: argparse.Namespace, context: Context) -> int:
    """Copy files."""
    to = place(args.to)
    from_folders = [text for text in args.sources if place(text)]
    if from_folders and len(from_folders) < len(args.sources):
        raise CarrelError("usage", "Local paths and folder paths cannot be mixed.", status=422)
    if to and from_folders:
        return _between(args, context, to)
    if to:
        return _up(args, context, args.sources, to)
    if from_folders:
        return _down(args, context, *of_one_folder(args.sources), args.to)
    if len(args.sources) > 1 or "/" in args.to or os.path.exists(args.sources[0]):
        raise CarrelError(
            "usage", "None of these is a folder path.", status=422, hint=f"Write FOLDER:PATH, as {args.to}:"
        )
    from carrel_client.cli.vfolder_life import clone_as

    return clone_as(context, args.sources[0], args.to, wait=not args.no_wait)


def upload_arguments(parser: Arguments) -> None:
    parser.add_argument("place", metavar="FOLDER[:PATH]", help="target directory, created if missing")
    parser.add_argument(
        "sources",
        metavar="LOCAL",
        nargs="+",
        help="local files and directories; or - for standard input, with PATH as its file",
    )
    _upload_options(parser)
    parser.explain(
        "Upload files and directories into a folder, several at a time. Unchanged files are skipped and\n"
        "interrupted transfers resume, so you can run the same command again."
    )
    parser.example(
        "carrel vfolder upload data ./images",
        "carrel vfolder upload data:train ./images/ --clash replace",
        "carrel vfolder upload data big.tar --parts 4",
    )


def upload(args: argparse.Namespace, context: Context) -> int:
    """Upload files into a folder."""
    where = place(args.place) or FolderPath(args.place, "")
    args.recursive = True
    return _up(args, context, args.sources, FolderPath(where.folder, f"{where.inner}/"))


def download_arguments(parser: Arguments) -> None:
    parser.add_argument(
        "places", metavar="FOLDER[:PATH]", nargs="+", help="files and directories of one folder"
    )
    parser.add_argument(
        "--to",
        dest="into",
        metavar="DIRECTORY",
        default=".",
        help="target directory (default: current directory)",
    )
    _options(parser)
    parser.explain(
        "Download files and directories of a folder, several at a time. Unchanged files are skipped and\n"
        "interrupted transfers resume, so you can run the same command again."
    )
    parser.example(
        "carrel vfolder download data", "carrel vfolder download data:runs/7/ data:notes.md --to results"
    )


def download(args: argparse.Namespace, context: Context) -> int:
    """Download files of a folder."""
    args.recursive = True
    folder, places = of_one_folder([text if place(text) else f"{text}:" for text in args.places])
    return _down(args, context, folder, places, os.path.join(args.into, ""))


def archive_arguments(parser: Arguments) -> None:
    parser.add_argument(
        "places", metavar="FOLDER[:PATH]", nargs="+", help="files and directories of one folder"
    )
    parser.add_argument("file", metavar="FILE", help="output file; - for standard output")
    parser.without_output()
    parser.explain("Save files and directories of a folder as a zip archive, without symbolic links.")
    parser.example(
        "carrel vfolder zip data:runs/7 run-7.zip", "carrel vfolder zip data - | ssh host 'cat > data.zip'"
    )


def archive(args: argparse.Namespace, context: Context) -> int:
    """Save files of a folder as a zip file."""
    folder, places = of_one_folder([text if place(text) else f"{text}:" for text in args.places])
    blocks = context.client.files.archive(folder, paths=[where.inner for where in places])
    if args.file == "-":
        for block in blocks:
            write_bytes(block)
        return 0
    # Write to a temporary name, so that an incomplete file is never taken for the archive.
    unfinished = f"{args.file}.part"
    size = 0
    try:
        with open(unfinished, "wb") as file, ProgressLine(after_s=_PATIENCE_S) as progress:
            for block in blocks:
                file.write(block)
                size += len(block)
                progress.update(f"saved {format_size(size)}")
        os.replace(unfinished, args.file)
    except OSError as wrong:
        from carrel_client.sending import local_error

        raise local_error(args.file, wrong) from None
    finally:
        if os.path.exists(unfinished):
            os.unlink(unfinished)
    say(f"saved {format_size(size)} in {args.file}")
    return 0


def _options(parser: Arguments) -> None:
    parser.add_argument(
        "--clash",
        choices=("refuse", "replace", "rename", "skip"),
        help="what to do with existing files that differ (default: ask on a terminal, otherwise fail)",
    )
    parser.add_argument(
        "--workers",
        type=reading(_number),
        default=4,
        metavar="N",
        help="number of parallel transfers (default 4)",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="print errors only")


def _upload_options(parser: Arguments) -> None:
    _options(parser)
    parser.add_argument("--follow", action="store_true", help="follow symbolic links")
    parser.add_argument(
        "--parts",
        type=reading(_number),
        default=1,
        metavar="N",
        help="number of parallel parts of a large file, for connections with high latency",
    )
    parser.add_argument("--checksum", action="store_true", help="verify checksums on the server")


def _number(text: str) -> int:
    number = whole_number(text)
    if not 1 <= number <= _MOST_PARTS:
        raise ValueError(f"{text!r} is not a number from 1 to {_MOST_PARTS}")
    return number


def _up(args: argparse.Namespace, context: Context, sources: list[str], to: FolderPath) -> int:
    if "-" in sources:
        return _up_stream(args, context, sources, to)
    _require_recursive(args, sources)
    transfers, options = context.client.transfers, {"parts": args.parts, "checked": args.checksum}
    single = len(sources) == 1 and not os.path.isdir(sources[0])

    def bring(clash: Clash, on_progress: Callable[[Meter], None]) -> Transfer:
        if single and not goes_into(context, to, several=False):
            return transfers.upload_as(
                to.folder, sources[0], to.inner, clash=clash, told=on_progress, **options
            )
        return transfers.upload(
            to.folder,
            sources,
            to.inner,
            clash=clash,
            follow=args.follow,
            workers=args.workers,
            told=on_progress,
            **options,
        )

    return _watched(args, context, bring, "sent")


def _up_stream(args: argparse.Namespace, context: Context, sources: list[str], to: FolderPath) -> int:
    """Upload standard input into one file."""
    path = to.inner.rstrip("/")
    if len(sources) > 1 or not path:
        raise CarrelError(
            "usage",
            "Standard input needs a file name.",
            status=422,
            hint=f"Write - {to.folder}:NAME. For a file named -, write ./-",
        )

    def bring(clash: Clash, on_progress: Callable[[Meter], None]) -> Transfer:
        return context.client.transfers.upload_stream(
            to.folder, sys.stdin.buffer, path, clash=clash, told=on_progress
        )

    return _watched(args, context, bring, "sent")


def _down(args: argparse.Namespace, context: Context, folder: str, places: list[FolderPath], to: str) -> int:
    files, transfers = context.client.files, context.client.transfers
    into = len(places) > 1 or os.path.isdir(to) or to.endswith(os.sep)

    def bring(clash: Clash, on_progress: Callable[[Meter], None]) -> Transfer:
        entries = [files.show(folder, path=where.inner) if where.inner else None for where in places]
        directories = [
            where
            for where, each in zip(places, entries, strict=True)
            if not each or each["kind"] == "directory"
        ]
        if directories and not args.recursive:
            raise _directory(f"{folder}:{directories[0].path}")
        if not into and not directories:
            return transfers.download_as(folder, places[0].inner, to, clash=clash, told=on_progress)
        paths = [where.path for where in places]
        return transfers.download(folder, paths, to, clash=clash, workers=args.workers, told=on_progress)

    return _watched(args, context, bring, "received")


def _between(args: argparse.Namespace, context: Context, to: FolderPath) -> int:
    """Copy within and between folders, which the server does."""
    folder, places = of_one_folder(args.sources)
    files = context.client.files
    paths = [where.inner for where in places]
    if not args.recursive:
        for where in places:
            if not where.inner or files.show(folder, path=where.inner)["kind"] == "directory":
                raise _directory(f"{folder}:{where.inner}")
    goal = "to" if goes_into(context, to, several=len(paths) > 1) else "rename_to"
    clash: models.Clash = args.clash if args.clash in ("replace", "rename") else "refuse"
    task = files.copy(folder, paths=paths, folder=to.folder, clash=clash, **{goal: to.inner})
    if not args.no_wait:
        task = until_done(context, task)
    doing = "copied" if task["ended_at"] else "copying"
    context.answer(
        task,
        lambda: print_line(
            f"{doing} {counted(task['done_files'], 'file')}, {format_size(task['done_bytes'])}"
        ),
    )
    return 0


def _watched(
    args: argparse.Namespace,
    context: Context,
    bring: Callable[[Clash, Callable[[Meter], None]], Transfer],
    verb: str,
) -> int:
    """Run the transfer with a progress bar on stderr, then print the result."""
    began = time.monotonic()
    with ProgressLine(after_s=_PATIENCE_S) as line:

        def on_progress(meter: Meter) -> None:
            line.update(_text(meter, verb, time.monotonic() - began), _fraction(meter))

        clash: Clash = args.clash or (
            _Asking(line) if sys.stdin.isatty() and sys.stderr.isatty() else "refuse"
        )
        done = bring(clash, on_progress)
    _report(args, context, done, verb)
    return 1 if done.failed else 0


class _Asking:
    """Asks what to do with an existing file; an upper-case answer applies to all following files."""

    def __init__(self, line: ProgressLine) -> None:
        self._line = line
        self._for_all: Choice | None = None

    def __call__(self, path: str) -> Choice:
        while self._for_all is None:
            with self._line.silent():
                sys.stderr.write(
                    f"{printable(path)} exists and differs. [r]eplace, [s]kip, [k]eep both, [n]o; "
                    "upper case for all: "
                )
                sys.stderr.flush()
                text = sys.stdin.readline()
            answer = text.strip()[:1]
            if not text:
                return "refuse"
            if answer.lower() in _ANSWERS:
                choice = _ANSWERS[answer.lower()]
                self._for_all = choice if answer.isupper() else None
                return choice
        return self._for_all


def _report(args: argparse.Namespace, context: Context, done: Transfer, verb: str) -> None:
    meter = done.meter
    for name, why in done.skipped[:_SHOWN] if not args.quiet else []:
        say(f"skipped {printable(name)}: {why}")
    if len(done.skipped) > _SHOWN and not args.quiet:
        say(f"and {len(done.skipped) - _SHOWN:,} more were skipped")
    for name, error in done.failed[:_SHOWN]:
        report(CarrelError(error.code, f"{name}: {error.detail}", status=error.status, hint=error.hint))
    if len(done.failed) > _SHOWN:
        say(f"and {len(done.failed) - _SHOWN:,} more failed")
    answer: dict[str, Any] = {
        "files": meter.files,
        "bytes": meter.bytes,
        "unchanged": done.unchanged,
        "skipped": [{"path": printable(name), "reason": why} for name, why in done.skipped],
        "failed": [
            {"path": printable(name), "code": error.code, "message": error.detail}
            for name, error in done.failed
        ],
    }
    same = f", {done.unchanged:,} unchanged" if done.unchanged else ""
    sentence = f"{verb} {counted(meter.files, 'file')}, {format_size(meter.bytes)}{same}"
    context.answer(answer, lambda: None if args.quiet else print_line(sentence))


def _text(meter: Meter, verb: str, seconds: float) -> str:
    files = f"{meter.files:,} of {meter.total_files:,}{'' if meter.complete else '+'} files"
    size = f"{format_size(meter.bytes)} of {format_size(meter.total_bytes)}"
    speed = meter.bytes / seconds if seconds else 0.0
    left = meter.total_bytes - meter.bytes
    rest = f", {format_duration(round(left / speed))} left" if speed and meter.complete and left > 0 else ""
    return f"{verb} {files}, {size}, {format_size(int(speed))}/s{rest}"


def _fraction(meter: Meter) -> float | None:
    return meter.bytes / meter.total_bytes if meter.complete and meter.total_bytes else None


def _require_recursive(args: argparse.Namespace, sources: list[str]) -> None:
    for source in sources:
        if os.path.isdir(source) and not args.recursive:
            raise _directory(source)


def _directory(where: str) -> CarrelError:
    return CarrelError("usage", f"{where} is a directory.", status=422, hint="Use -r to copy a directory.")
