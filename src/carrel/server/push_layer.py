"""`carrel push-layer`: build the app layer on this machine, and push it to a registry from which clusters pull it."""

import argparse
import asyncio
import sys
from getpass import getpass

from carrel.core.errors import Invalid, Unavailable
from carrel.engines.docker import DockerEngine
from carrel.engines.port import EngineError, Progress, PullCredentials
from carrel.engines.references import LOCAL, registry_of
from carrel.server.bootstrap.layer_recipe import build_here
from carrel.server.bootstrap.progress import progress
from carrel.server.console import say
from carrel.server.engine_cleanup import settings_of_last_start


def push_layer(options: argparse.Namespace) -> int:
    """Build, push, and say how to name it. Raises: Invalid, Unavailable."""
    host = registry_of(options.repository)
    if host == LOCAL:
        raise Invalid(
            "setup.layer_repository",
            f"{options.repository} is on no registry that a cluster reaches.",
            hint="Name it with the registry's host, such as registry.example.org/carrel/app-layer.",
        )
    credentials = None
    if options.username:
        credentials = PullCredentials(host, options.username, _secret(options.secret_file))
    asyncio.run(_push(settings_of_last_start(options).engine_url, options.repository, credentials))
    return 0


async def _push(url: str, repository: str, credentials: PullCredentials | None) -> None:
    engine = DockerEngine(url, "layer")
    try:
        reference = await build_here(engine, say)
        target = f"{repository}:{reference.rpartition(':')[2]}"
        async with progress(say, "app layer") as shown:

            def show(step: Progress) -> None:
                shown.show(f"pushing it to {target}, {(step.fraction or 0) * 100:.0f} %")

            digest = await engine.push_image(reference, target, show, credentials)
    except EngineError as error:
        raise Unavailable("engine.refused", error.message, hint="See the engine's log.") from error
    finally:
        await engine.close()
    say(f"{target} has the app layer ({digest}).")
    say(f"Use it: carrel engine edit ENGINE --app-layer {target}")


def _secret(file: str) -> str:
    """Raises: Invalid."""
    try:
        if file == "-" and sys.stdin.isatty():
            return getpass("Password or token: ")
        if file == "-":
            return sys.stdin.readline().rstrip("\n")
        with open(file) as content:
            return content.read().rstrip("\n")
    except OSError as error:
        raise Invalid(
            "setup.secret_file", f"{file}: {error.strerror}.", hint="Name a readable file."
        ) from error
