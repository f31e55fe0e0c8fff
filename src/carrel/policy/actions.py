"""Every action, once: its name, who holds it in which scope, and one sentence for people.

Routes name an action from here; code, API docs and the page read the same table.
"""

from dataclasses import dataclass
from enum import IntEnum, StrEnum


class Role(StrEnum):
    USER = "user"
    PROJECT_ADMIN = "project_admin"
    DOMAIN_ADMIN = "domain_admin"
    SUPERADMIN = "superadmin"


class Scope(IntEnum):
    """How far a right reaches; each holds the ones before it."""

    NONE = 0
    OWN = 1
    PROJECT = 2
    DOMAIN = 3
    ALL = 4


@dataclass(frozen=True)
class Action:
    """project_admin's scope counts only in the projects that the person administers."""

    name: str
    sentence: str
    user: Scope
    project_admin: Scope
    domain_admin: Scope
    superadmin: Scope = Scope.ALL
    public: bool = False

    def scope(self, role: Role) -> Scope:
        match role:
            case Role.USER:
                return self.user
            case Role.PROJECT_ADMIN:
                return self.project_admin
            case Role.DOMAIN_ADMIN:
                return self.domain_admin
            case Role.SUPERADMIN:
                return self.superadmin


def _own(name: str, sentence: str) -> Action:
    """Yours, whoever you are; administrators reach their scope."""
    return Action(name, sentence, Scope.OWN, Scope.PROJECT, Scope.DOMAIN)


def _personal(name: str, sentence: str) -> Action:
    """Yours alone; no administrator acts for you."""
    return Action(name, sentence, Scope.OWN, Scope.OWN, Scope.OWN, Scope.OWN)


def _shared(name: str, sentence: str) -> Action:
    """For everyone who is signed in."""
    return Action(name, sentence, Scope.ALL, Scope.ALL, Scope.ALL)


def _public(name: str, sentence: str) -> Action:
    return Action(name, sentence, Scope.ALL, Scope.ALL, Scope.ALL, public=True)


ACTIONS = {
    action.name: action
    for action in (
        _public("auth.login", "Sign in with e-mail and password."),
        _public("server.health", "See whether the server is well."),
        _personal("auth.me", "See who you are and what you belong to."),
        _personal("auth.logout", "Sign out."),
        _personal("keypair.read", "See your keypairs."),
        _personal("keypair.create", "Make a keypair for scripts and the command line."),
        _personal("keypair.remove", "Remove a keypair."),
        _shared("server.read", "See version and state of the installation's parts."),
        _shared("image.read", "See the images that sessions can use."),
        _shared("resource.read", "See what is left to start sessions with."),
        Action(
            "session.create",
            "Start a session in a project of yours.",
            Scope.PROJECT,
            Scope.PROJECT,
            Scope.DOMAIN,
        ),
        _own("session.read", "See a session, its history, its logs and its resource use."),
        _own("session.update", "Rename a session."),
        _own("session.remove", "Terminate a session."),
        _personal("session.exec", "Run commands and terminals in a session."),
        _personal("app.open", "Open an app of a session."),
        _own("app.read", "See the apps of a session."),
        _own("event.read", "Follow what happens to your sessions."),
    )
}
