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
        _public("auth.login", "Sign in, with two-factor authentication if the account has it."),
        _public("auth.recover", "Request and use a password reset link."),
        _public("auth.sign_up", "Sign up for an account, if the site permits it."),
        _public("server.health", "See the server's health."),
        _public("server.greet", "See what the sign-in page needs: languages, providers, sign-up."),
        _personal("auth.me", "See your profile, projects and permissions."),
        _personal("auth.logout", "Sign out."),
        _personal("auth.confirm", "Re-authenticate before a sensitive change."),
        # yourself
        _personal("profile.update", "Change your name, language and other preferences."),
        _personal("password.update", "Change your password."),
        _personal("factor.read", "See your two-factor authentication and passkeys."),
        _personal(
            "factor.update", "Set up or remove two-factor authentication, passkeys and recovery codes."
        ),
        _managed("factor.reset", "Reset the two-factor authentication of a user who lost access to it."),
        _managed("login.read", "See the active sign-ins of a user."),
        _managed("login.remove", "End one or all sign-ins of a user."),
        _managed("keypair.read", "See keypairs, never their secrets."),
        _personal("keypair.create", "Create a keypair for scripts and the command line."),
        _personal("keypair.rotate", "Replace the secret of a keypair."),
        _managed("keypair.update", "Name, activate or deactivate a keypair."),
        _of_domain("keypair.limit", "Set the rate limit of a keypair."),
        _managed("keypair.remove", "Remove a keypair."),
        _personal("token.read", "See your personal tokens."),
        _personal("token.create", "Create a personal token for scripts, with scopes and an expiry."),
        _personal("token.remove", "Revoke a personal token."),
        _personal("dotfile.read", "See your dotfiles."),
        _personal("dotfile.update", "Add, change or remove a dotfile."),
        _personal("view.read", "See your saved views of lists."),
        _personal("view.update", "Save, change or delete a view of a list."),
        _personal("ssh_key.read", "See your SSH keys."),
        _personal("ssh_key.update", "Add, generate or remove an SSH key."),
        _personal("ssh_key.certify", "Obtain a short-lived SSH certificate."),
        _personal("notification.read", "See which notifications reach you, and where."),
        _personal("notification.update", "Choose which notifications reach you, and where."),
        _own(
            "webhook.read", "See webhooks and their deliveries: your own, and those of what you administer."
        ),
        _own(
            "webhook.create", "Add webhooks for yourself, and for projects and domains that you administer."
        ),
        _own("webhook.update", "Change and test a webhook, and send its deliveries again."),
        _own("webhook.remove", "Remove a webhook."),
        # tenants and people
        _of_domain("domain.read", "See a domain, its limits and permitted resources."),
        _of_all("domain.create", "Create a domain."),
        _of_all(
            "domain.update",
            "Rename, enable or disable a domain, and set its limits and permitted resources.",
        ),
        _of_all("domain.remove", "Remove an empty domain."),
        _member("project.read", "See a project and its members."),
        _of_domain("project.create", "Create a project."),
        _of_domain("project.update", "Rename a project, set its limits, archive and restore it."),
        _of_domain("project.remove", "Remove a project that never had a session."),
        _of_project("project.enrol", "Add and remove members of a project, and appoint its administrators."),
        Action("user.read", "See a user.", Scope.OWN, Scope.PROJECT, Scope.DOMAIN),
        _of_domain("user.create", "Create users."),
        _of_domain("user.update", "Change users: name, state, role, projects, forced password change."),
        _of_domain("user.recover", "Create a one-time password reset link for a user."),
        _of_all("user.purge", "Permanently delete an inactive user."),
        _of_all("user.appoint", "Appoint domain administrators and superadmins."),
        # limits
        _personal("limit.read", "See the resource policies that limit you."),
        Action("policy.read", "See all resource policies.", Scope.NONE, Scope.NONE, Scope.ALL),
        _of_all("policy.create", "Create or copy a resource policy."),
        _of_all("policy.update", "Change a resource policy, and preview who would exceed it."),
        _of_all("policy.remove", "Remove an unassigned resource policy."),
        _of_domain("policy.assign", "Assign a resource policy to keypairs, users and projects."),
        # the record
        _managed("audit.read", "See the audit trail: your own activity, or that of your domain."),
        _managed("audit.export", "Export the audit trail as a file."),
        _of_all("audit.verify", "Verify that the audit trail was not altered."),
        # the installation
        _shared("server.read", "See the version and state of the installation's components."),
        _of_all("maintenance.read", "Check the installation, and see its versions, licences and limits."),
        _of_all("maintenance.bundle", "Download a support bundle with settings and logs."),
        _of_all(
            "metrics.read", "Read allocated, available and requested resources as metrics, for Prometheus."
        ),
        _of_all("site.read", "See the settings of the installation."),
        _of_all("site.update", "Change the settings of the installation: sign-in rules, mail, retention."),
        _of_all("provider.read", "See the identity providers for single sign-on and LDAP."),
        _of_all("provider.update", "Add, change, test or remove an identity provider."),
        _shared("image.read", "See the images that sessions can use."),
        _of_all("image.scan", "Have an image scanned for known vulnerabilities."),
        _of_all("image.exempt", "Exempt an image from the rule on vulnerabilities, until a date."),
        _of_all(
            "image.update", "Enable, limit, hide, deprecate or watch an image, and set its aliases and slots."
        ),
        _of_project(
            "registry.read",
            "See the registries of projects and domains that you administer, and their scans.",
        ),
        _of_project("registry.update", "Add, change, check, scan or remove a registry."),
        _shared("resource.read", "See available resources."),
        _shared("group.read", "See the resource groups that you may use, and their resources."),
        _of_all("group.create", "Create a resource group."),
        _of_all("group.update", "Change a resource group, its access list and its fair-share weights."),
        _of_all("group.remove", "Remove an empty resource group."),
        _shared(
            "node.read",
            "See the nodes of resource groups that you may use, if the installation shows nodes.",
        ),
        _of_all("image.pull", "Pull images to nodes ahead of sessions."),
        _of_all("image.prune", "Remove unused images from nodes."),
        _of_all("node.update", "Move a node to another group, cordon or drain it, reserve resources on it."),
        _of_all("engine.read", "See the container engines and their settings."),
        _of_all("engine.update", "Add, change, check or remove an engine."),
        _shared("preset.read", "See the resource presets for sessions."),
        _of_all("preset.update", "Create, change or remove a preset."),
        _shared(
            "queue.read",
            "See the queues of the resource groups that you may use, and why your sessions wait.",
        ),
        _of_domain("share.read", "See usage and fair shares in a resource group."),
        _of_all(
            "scheduler.export", "Export past sessions and scheduler settings as a trace, to replay them."
        ),
        _own(
            "usage.read",
            "See usage over time: your own, of what you administer, and of the installation.",
        ),
        # folders
        _shared("storage_host.read", "See the storage hosts that your folders may use."),
        _of_all("storage_host.update", "Add, change or remove a storage host, and set its access list."),
        _member("vfolder.read", "See a folder, its access list and its tasks."),
        _own("vfolder.create", "Create your own folders; as an administrator, also those of projects."),
        _own("vfolder.update", "Rename a folder, move it to another storage host, trash and restore it."),
        _own("vfolder.remove", "Permanently delete a folder in the trash."),
        _own("vfolder.hand_over", "Transfer a folder to another owner."),
        _shareable("vfolder.share", "Share a folder, and revoke shares."),
        _personal("vfolder.join", "Accept or decline an invitation to a folder, and leave shared folders."),
        _within("vfolder.use", "Use the files of a folder, within your permission on it."),
        _public("vfolder.link", "Download by a short-lived link."),
        _own("quota.read", "See storage quotas and their usage."),
        # sessions
        _member("session.create", "Start a session in one of your projects."),
        _own("session.read", "See a session, its history, logs and resource usage."),
        _own("session.update", "Rename a session, change its priority and extend its time limit."),
        _of_project(
            "session.prioritise", "Raise the priority of the project's sessions above their owners' limit."
        ),
        _of_all("session.designate", "Choose the node of a session."),
        _own("session.keep", "Keep an idle session running."),
        _of_project("session.exempt", "Exempt sessions of the project from idle checks."),
        _own("session.restart", "Restart a session in place."),
        _personal("session.define", "Write and read definitions of sessions."),
        _personal("session.again", "Start one of your sessions again."),
        _own("session.remove", "Terminate a session."),
        _personal("session.save", "Save one of your running sessions as an environment."),
        _own("session.share", "Share a session, see who has access, and revoke shares."),
        _personal("session.join", "Open a session that is shared by a link."),
        _personal("session.leave", "Leave a session that another user shares with you."),
        _own("schedule.read", "See a schedule of recurring sessions and its runs."),
        _personal("schedule.preview", "See the next times of a cron expression."),
        _member("schedule.create", "Create a schedule of recurring sessions in one of your projects."),
        _personal("schedule.update", "Change your schedules."),
        _own("schedule.pause", "Pause and resume a schedule."),
        _personal("schedule.run", "Run your schedules on request."),
        _own("schedule.remove", "Delete a schedule."),
        # environments
        _member(
            "environment.read", "See your environments, those of your projects, and those shared with you."
        ),
        _personal(
            "environment.build", "Build an environment from a recipe, of your own or of your projects."
        ),
        _own("environment.update", "Change an environment, and stop making a version of it."),
        _own("environment.push", "Push a version of an environment to a registry, and cancel that."),
        _own("environment.share", "Share an environment, see with whom, and revoke shares."),
        _own("environment.remove", "Delete an environment or a version of it."),
        # templates
        _member("template.read", "See your templates, and those shared in your projects."),
        _member("template.create", "Save a template in one of your projects."),
        _own("template.update", "Change a template, and share it in its project."),
        _own("template.remove", "Delete a template."),
        _within(
            "template.start", "Start a session from a template that you own or that your project shares."
        ),
        _member(
            "app_template.read",
            "See app templates: the installation's, those of your projects, and your own.",
        ),
        _own("app_template.create", "Add app templates for yourself, and for projects that you administer."),
        _own("app_template.update", "Change an app template."),
        _own("app_template.remove", "Delete an app template."),
        _personal("session.exec", "Run commands and terminals in a session."),
        _personal("app.open", "Start, open and stop apps of a session, and open its ports."),
        _own("app.read", "See the apps of a session."),
        _own("event.read", "Follow events."),
    )
}
