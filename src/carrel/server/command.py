"""The operator's commands: up, down, status, serve. Parsed by argparse and imported lazily, to start fast."""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from carrel.core.errors import CarrelError

COMMANDS = {
    "up": "Start Carrel on this machine, setting up what is missing.",
    "down": "Stop Carrel. Running sessions go on; the next start finds them.",
    "status": "Show each part with its health, version and address.",
    "serve": "Run some roles in the foreground against your own PostgreSQL.",
}
EXIT_FAILED, EXIT_USAGE, EXIT_DOWN = 1, 2, 5


def main(arguments: Sequence[str]) -> int:
    """Run one command; give its exit code (0 well, 1 failed, 2 wrong use, 5 not running)."""
    options = parser().parse_args(arguments)
    try:
        if options.command == "up":
            from carrel.server import up

            return up.up(options)
        if options.command == "serve":
            return _serve(options)
        from carrel.server import status

        return status.down(options) if options.command == "down" else status.status(options)
    except CarrelError as error:
        return complain(error)
    except KeyboardInterrupt:
        return 130


def complain(error: CarrelError) -> int:
    """Say it on standard error; give the exit code."""
    sys.stderr.write(f"error: {error.message} ({error.code})\n")
    if error.hint:
        sys.stderr.write(f"hint: {error.hint}\n")
    return EXIT_USAGE if error.code.startswith("setup.") else EXIT_FAILED


def parser() -> argparse.ArgumentParser:
    """The whole grammar, for --help and the documentation."""
    top = argparse.ArgumentParser(prog="carrel", description="Run a Carrel installation.")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    made = {name: commands.add_parser(name, help=text, description=text) for name, text in COMMANDS.items()}
    for name, command in made.items():
        command.formatter_class = argparse.RawDescriptionHelpFormatter
        command.epilog = _EXAMPLES[name]
        if name != "serve":
            command.add_argument("--data-dir", type=Path, metavar="DIR", help="where everything is kept")
    up = made["up"]
    up.add_argument("--detach", action="store_true", help="return once it runs")
    up.add_argument("--yes", action="store_true", help="install what is missing without asking")
    up.add_argument("--host", metavar="ADDRESS", help="address to listen on (default 127.0.0.1)")
    up.add_argument("--port", type=int, metavar="N", help="port of the page and the API (default 8700)")
    up.add_argument(
        "--apps-domain", metavar="DOMAIN", help="apps are at <app>-<session>.DOMAIN (default localhost)"
    )
    up.add_argument(
        "--app-ports", metavar="FIRST-LAST",
        help="ports of apps for those who come by an address, where names do not work",
    )  # fmt: skip
    up.add_argument("--admin-email", metavar="E", help="e-mail of the first administrator")
    made["status"].add_argument("-o", "--output", choices=("table", "json"), default="table")
    made["serve"].add_argument("--roles", default="api,gateway,controllers", metavar="LIST",
                               help="some of api, gateway, controllers")  # fmt: skip
    return top


_EXAMPLES = {
    "up": "examples:\n  carrel up\n  carrel up --detach --yes\n  carrel up --host 0.0.0.0 --port 80 "
    "--apps-domain apps.example.org",
    "down": "examples:\n  carrel down",
    "status": "examples:\n  carrel status\n  carrel status -o json",
    "serve": "examples:\n  CARREL_DATABASE_URL=postgresql://carrel@db/carrel carrel serve --roles api,controllers",
}


def _serve(options: argparse.Namespace) -> int:
    """Become the wanted process; all three roles need a process each for the gateway and the rest."""
    roles = set(options.roles.split(","))
    unknown = roles - {"api", "gateway", "controllers"}
    if unknown or not roles:
        sys.stderr.write(f"error: there is no role {', '.join(sorted(unknown))} (invalid.roles)\n")
        return EXIT_USAGE
    if not os.environ.get("CARREL_DATABASE_URL"):
        sys.stderr.write("error: CARREL_DATABASE_URL is not set (setup.no_database)\n")
        sys.stderr.write("hint: `carrel up` runs everything with an embedded PostgreSQL.\n")
        return EXIT_USAGE
    from carrel.db.migrate import migrate

    migrate(os.environ["CARREL_DATABASE_URL"])
    rest = ",".join(sorted(roles - {"gateway"}))
    if "gateway" in roles and rest:
        import subprocess

        with subprocess.Popen(
            [sys.executable, "-m", "carrel.server.processes", "gateway", str(os.getpid())]
        ) as gateway:
            try:
                return subprocess.run(
                    [sys.executable, "-m", "carrel.server.processes", rest], check=False
                ).returncode
            finally:
                gateway.terminate()
    role = rest or "gateway"
    return os.execv(sys.executable, [sys.executable, "-m", "carrel.server.processes", role])


def read_run(data_dir: Path) -> dict[str, str]:
    """The environment that the last `up` gave its processes; empty before the first."""
    try:
        return dict(json.loads((data_dir / "run.json").read_text())["environment"])
    except (OSError, ValueError, KeyError):
        return {}
