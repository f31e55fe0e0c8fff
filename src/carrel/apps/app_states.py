"""The states of a session's apps, from what their container shows now."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from carrel.apps import opening
from carrel.apps.app_processes import AppProcess, AppProcesses
from carrel.apps.catalogue_schemas import AppOptionView
from carrel.apps.container_engines import ContainerEngines
from carrel.apps.installed_programs import Programs
from carrel.apps.opening import AppServer
from carrel.apps.schemas import AppState, AppView
from carrel.apps.session_apps import AppOfSession, AppSource
from carrel.engines.port import EngineError


@dataclass(frozen=True)
class AppHealth:
    """exit_code: of its last process, if that has ended."""

    state: AppState
    exit_code: int | None = None


STOPPED = AppHealth(AppState.STOPPED)


class AppStates:
    """Checks ports concurrently; processes and programs by one exec each, only if something does not respond."""

    def __init__(self, engines: ContainerEngines, processes: AppProcesses) -> None:
        self._engines = engines
        self._processes = processes
        self._programs = Programs(processes)

    async def of(
        self, place: AppServer, apps: Sequence[AppOfSession], now: datetime
    ) -> Mapping[str, AppHealth]:
        """By name of the app. An engine that cannot be asked leaves what does not respond as stopped."""
        responding, processes, missing = await asyncio.gather(
            opening.running_apps(self._engines, place, [app.template for app in apps if _may_run(app)]),
            self._status(place),
            self._missing(place, apps),
        )
        return {
            app.name: AppHealth(AppState.READY)
            if responding.get(app.name)
            else AppHealth(AppState.MISSING)
            if app.template.requires in missing
            else _health(app, processes.get(app.name), now)
            for app in apps
        }

    async def _status(self, place: AppServer) -> Mapping[str, AppProcess]:
        with suppress(EngineError):
            return await self._processes.status(place.container, start=place.start)
        return {}

    async def _missing(self, place: AppServer, apps: Sequence[AppOfSession]) -> set[str]:
        required = {app.template.requires for app in apps} - {""}
        if not required:
            return set()
        with suppress(EngineError):
            return required - await self._programs.of(place.container, required, start=place.start)
        return set()


def view(app: AppOfSession, health: AppHealth) -> AppView:
    template = app.template
    return AppView(
        name=template.name,
        title=template.title,
        icon=template.icon,
        protocol=template.protocol,
        port=template.port,
        path=template.path,
        running=health.state is AppState.READY,
        state=health.state,
        exit_code=health.exit_code,
        source=app.source,
        kind=app.kind,
        options=[
            AppOptionView.model_validate(vars(option) | {"choices": list(option.choices)})
            for option in template.options
        ],
        chosen=dict(app.options),
        removable=app.stored,
        hint=template.hint,
    )


def _may_run(app: AppOfSession) -> bool:
    """Until it was started, the catalogue's port may be that of something else."""
    return app.stored or app.source is AppSource.IMAGE


def _health(app: AppOfSession, process: AppProcess | None, now: datetime) -> AppHealth:
    if not app.template.command:
        return AppHealth(AppState.UNREACHABLE)
    if process is None:
        return STOPPED
    if process.alive:
        young = now.timestamp() - process.started_s < opening.START_TIMEOUT_S
        return AppHealth(AppState.STARTING if young else AppState.UNREACHABLE)
    return AppHealth(AppState.FAILED if process.exit_code else AppState.STOPPED, process.exit_code)
