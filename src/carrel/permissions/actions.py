"""The table of actions: name, scope per role, and a sentence for people.

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
    """The scope of a permission; each includes the ones before it."""

    NONE = 0
    OWN = 1
    PROJECT = 2
    DOMAIN = 3
    ALL = 4


@dataclass(frozen=True)
class Action:
    """project_admin's scope applies only in the projects that the user administers.

    about: the kind of object.
    """

    name: str
    sentence: str
    user: Scope
    project_admin: Scope
    domain_admin: Scope
    superadmin: Scope = Scope.ALL
    public: bool = False

    @property
    def about(self) -> str:
        return self.name.split(".")[0]

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
    """Own objects for everybody; administrators have their scope."""
    return Action(name, sentence, Scope.OWN, Scope.PROJECT, Scope.DOMAIN)


def _personal(name: str, sentence: str) -> Action:
    """Own objects only, also for administrators."""
    return Action(name, sentence, Scope.OWN, Scope.OWN, Scope.OWN, Scope.OWN)


def _managed(name: str, sentence: str) -> Action:
    """Own objects; domain administrators also those of their domain's users."""
    return Action(name, sentence, Scope.OWN, Scope.OWN, Scope.DOMAIN)


def _member(name: str, sentence: str) -> Action:
    """Objects in own projects; domain administrators have their domain."""
    return Action(name, sentence, Scope.PROJECT, Scope.PROJECT, Scope.DOMAIN)


def _within(name: str, sentence: str) -> Action:
    """Own objects and those of own projects, also for administrators."""
    return Action(name, sentence, Scope.PROJECT, Scope.PROJECT, Scope.PROJECT, Scope.PROJECT)


def _shareable(name: str, sentence: str) -> Action:
    """Own objects and those of administered projects, also for administrators."""
    return Action(name, sentence, Scope.OWN, Scope.PROJECT, Scope.OWN, Scope.OWN)


def _of_project(name: str, sentence: str) -> Action:
    """Administrators of the project and of its domain."""
    return Action(name, sentence, Scope.NONE, Scope.PROJECT, Scope.DOMAIN)


def _of_domain(name: str, sentence: str) -> Action:
    """For administrators of the domain."""
    return Action(name, sentence, Scope.NONE, Scope.NONE, Scope.DOMAIN)


def _of_all(name: str, sentence: str) -> Action:
    """For superadmins."""
    return Action(name, sentence, Scope.NONE, Scope.NONE, Scope.NONE)


def _shared(name: str, sentence: str) -> Action:
    """Every signed-in user."""
    return Action(name, sentence, Scope.ALL, Scope.ALL, Scope.ALL)


def _public(name: str, sentence: str) -> Action:
    return Action(name, sentence, Scope.ALL, Scope.ALL, Scope.ALL, public=True)


ACTIONS = {
    action.name: action
    for action in (
        # signing in
        _public("auth.login", "Sign in, with a second step where the account has one."),
        _public("auth.recover", "Ask for a link to set a new password, and use it."),
        _public("auth.sign_up", "Make an account of one's own, where the site allows it."),
        _public("server.health", "See the server's health."),
        _public("server.greet", "See what the sign-in page must know: languages, providers, sign-up."),
        _personal("auth.me", "See who you are and what you belong to."),
        _personal("auth.logout", "Sign out."),
        _personal("auth.confirm", "Prove once more that it is you, before a dangerous change."),
        # yourself
        _personal("profile.update", "Change your name, language and other preferences."),
        _personal("password.update", "Change your password."),
        _personal("factor.read", "See your second factors and passkeys."),
        _personal("factor.update", "Add or remove a second factor, a passkey or recovery codes."),
        _managed("factor.reset", "Switch the second factors of somebody off who has lost them."),
        _managed("login.read", "See where somebody is signed in."),
        _managed("login.remove", "Sign somebody out, here or everywhere."),
        _managed("keypair.read", "See keypairs, never their secrets."),
        _personal("keypair.create", "Make a keypair for scripts and the command line."),
        _personal("keypair.rotate", "Give a keypair another secret."),
        _managed("keypair.update", "Name, activate or deactivate a keypair."),
        _of_domain("keypair.limit", "Set how many requests a keypair may make."),
        _managed("keypair.remove", "Remove a keypair."),
        _personal("token.read", "See your personal tokens."),
        _personal("token.create", "Make a personal token for a script, with scopes and an expiry."),
        _personal("token.remove", "Revoke a personal token."),
        _personal("ssh_key.read", "See your SSH keys."),
        _personal("ssh_key.update", "Add, make or remove an SSH key."),
        # tenants and people
        _of_domain("domain.read", "See a domain, its ceilings and what it may use."),
        _of_all("domain.create", "Make a domain."),
        _of_all(
            "domain.update", "Rename a domain, enable or disable it, set its ceilings and what it may use."
        ),
        _of_all("domain.remove", "Remove a domain that holds nothing."),
        _member("project.read", "See a project and who is in it."),
        _of_domain("project.create", "Make a project."),
        _of_domain("project.update", "Rename a project, set its ceiling, archive and restore it."),
        _of_domain("project.remove", "Remove a project that never held a session."),
        _of_project("project.enrol", "Add people to a project, remove them, appoint its administrators."),
        Action("user.read", "See a user.", Scope.OWN, Scope.PROJECT, Scope.DOMAIN),
        _of_domain("user.create", "Make users, one or many."),
        _of_domain(
            "user.update", "Change users: name, state, role, projects, whether they must change the password."
        ),
        _of_domain("user.recover", "Make a one-time link with which somebody sets a new password."),
        _of_all("user.purge", "Delete an inactive user for good."),
        _of_all("user.appoint", "Make somebody an administrator of a domain or of everything."),
        # limits
        _personal("limit.read", "See the resource policies that limit you."),
        Action("policy.read", "See all resource policies.", Scope.NONE, Scope.NONE, Scope.ALL),
        _of_all("policy.create", "Make a resource policy, or copy one."),
        _of_all("policy.update", "Change a resource policy, and see who would be over it."),
        _of_all("policy.remove", "Remove a resource policy that nobody has."),
        _of_domain("policy.assign", "Give a resource policy to keypairs, people and projects."),
        # the record
        _managed("audit.read", "See who did what: your own activity, or that of your domain."),
        _managed("audit.export", "Save who did what as a file."),
        _of_all("audit.verify", "Prove that nobody altered the audit trail."),
        # the installation
        _shared("server.read", "See version and state of the installation's parts."),
        _of_all("metrics.read", "Read what is held, offered and waited for as gauges, for Prometheus."),
        _of_all("site.read", "See the settings of the installation."),
        _of_all("site.update", "Change the settings of the installation: sign-in rules, mail, retention."),
        _of_all("provider.read", "See the identity providers for single sign-on and LDAP."),
        _of_all("provider.update", "Add, change, test or remove an identity provider."),
        _shared("image.read", "See the images that sessions can use."),
        _shared("resource.read", "See available resources."),
        _shared("group.read", "See the resource groups that you may use, and what they have."),
        _of_all("group.create", "Make a resource group."),
        _of_all(
            "group.update", "Change a resource group, who may use it, and the weights of its fair share."
        ),
        _of_all("group.remove", "Remove a resource group that holds nothing."),
        _shared(
            "node.read",
            "See the nodes of resource groups that you may use, where the installation shows them.",
        ),
        _of_all("node.update", "Move a node to another group, close it, empty it, reserve some of it."),
        _of_all("engine.read", "See the engines that run containers, and how each is set up."),
        _of_all("engine.update", "Add, change, check or remove an engine."),
        _shared("preset.read", "See the presets that sessions can be started with."),
        _of_all("preset.update", "Make, change or remove a preset."),
        _shared("queue.read", "See how many wait in the resource groups that you may use, and why yours do."),
        _of_domain(
            "share.read", "See who has had how much of a resource group, and what they are entitled to."
        ),
        _of_all("scheduler.export", "Save what was asked for and how it is served, to replay it."),
        # folders
        _shared("storage_host.read", "See the storage hosts that you may keep folders on."),
        _of_all("storage_host.update", "Add, change or remove a storage host, and say who may use it."),
        _member("vfolder.read", "See a folder, who has it and what is being done with it."),
        _own("vfolder.create", "Make a folder of your own; administrators also make those of projects."),
        _own("vfolder.update", "Rename a folder, move it to another storage host, to the trash and back."),
        _own("vfolder.remove", "Delete a folder in the trash for good."),
        _own("vfolder.hand_over", "Make a folder somebody else's."),
        _shareable("vfolder.share", "Give others a folder, and take it back."),
        _personal("vfolder.join", "Take or refuse a folder that somebody shares with you, and leave it."),
        _within("vfolder.use", "Work with the files of a folder, as far as its permission goes."),
        _public("vfolder.link", "Fetch what a short-lived link was made for."),
        _own("quota.read", "See how much of the space for folders is used."),
        # sessions
        _member("session.create", "Start a session in a project of yours."),
        _own("session.read", "See a session, its history, its logs and its resource use."),
        _own("session.update", "Rename a session, and say how soon it is to start."),
        _of_project(
            "session.prioritise", "Let a session of the project go before others, above what its owner may."
        ),
        _of_all("session.designate", "Choose the node that a session runs on."),
        _own("session.keep", "Say that a session is in use although it looks idle."),
        _of_project("session.exempt", "Let a session of the project never count as idle."),
        _own("session.remove", "Terminate a session."),
        _personal("session.exec", "Run commands and terminals in a session."),
        _personal("app.open", "Open an app of a session."),
        _own("app.read", "See the apps of a session."),
        _own("event.read", "Follow what happens to your sessions."),
    )
}
