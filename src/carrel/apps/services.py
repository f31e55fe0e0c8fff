"""Services of the routes for apps, terminals and commands."""

from dataclasses import dataclass

from carrel.apps.access_watch import AccessWatch
from carrel.apps.app_processes import AppProcesses
from carrel.apps.app_states import AppStates
from carrel.apps.container_engines import ContainerEngines
from carrel.apps.opening import AppsSettings, AppStarter
from carrel.apps.session_changes import SessionChanges
from carrel.apps.terminal_relay import TerminalRelay
from carrel.apps.terminals import Terminals
from carrel.audit.services import AuditServices
from carrel.sessions.logs.store import LogStore
from carrel.usage.idle.activity import Activity


@dataclass(frozen=True, kw_only=True)
class AccessServices(AuditServices):
    """Container engines and stored logs, and this process's terminals, starting apps and activity."""

    settings: AppsSettings
    container_engines: ContainerEngines
    activity: Activity
    terminals: Terminals
    terminal_relay: TerminalRelay
    app_processes: AppProcesses
    app_starter: AppStarter
    app_states: AppStates
    session_changes: SessionChanges
    access_watch: AccessWatch
    logs: LogStore
