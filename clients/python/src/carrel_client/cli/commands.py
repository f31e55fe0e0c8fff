"""The one table of commands: what each is called, what it does in a line, and where its code is.

Only the module of the command that runs is imported. In it, the function of the command's last word (`ls`) does
the work and the function of the same name with `_arguments` describes what may follow the words.
"""

from __future__ import annotations


class Command:
    """One command. words: as typed, "session ls". place: module below this package and function in it."""

    __slots__ = ("function", "module", "summary", "words")

    def __init__(self, words: str, place: str, summary: str) -> None:
        self.words = words
        self.module, self.function = place.split(":")
        self.summary = summary


GROUPS = {
    "session": "Start, watch, use and end sessions",
    "app": "Open what runs inside a session in a browser",
    "image": "What sessions can start from",
    "keypair": "Access keys for scripts",
    "token": "Personal tokens, which reach less than you",
    "ssh-key": "Public keys to get into your sessions with",
    "audit": "Who did what, and the proof that nobody altered it",
    "user": "People: make, change, disable and delete them",
    "project": "Where people work, and who is in it",
    "domain": "Tenants: what they hold and may use",
    "policy": "Limits of keypairs, people and projects",
    "group": "Resource groups: which nodes, for whom, in which order",
    "node": "Machines: what they have, closing and emptying them",
    "preset": "Named sets of slots to start sessions with",
    "sign-in": "Where you are signed in",
    "site": "Settings of the installation",
    "provider": "Who else may say who somebody is: single sign-on and LDAP",
    "scheduler": "Who waits, who has had how much, and what another policy would do",
    "server": "The installation",
}

COMMANDS = {
    command.words: command
    for command in (
        Command("login", "account:login", "Sign in and keep a keypair on this machine"),
        Command("logout", "account:logout", "Give the keypair of this machine back"),
        Command("whoami", "account:whoami", "Say who you are and where"),
        Command("session create", "session_life:create", "Start a session"),
        Command("session ls", "session_views:ls", "List sessions"),
        Command("session show", "session_views:show", "Show one session"),
        Command("session history", "session_views:history", "Show what happened to a session, and why"),
        Command("session usage", "session_views:usage", "Show what a session uses"),
        Command("session logs", "session_views:logs", "Print what a session wrote"),
        Command("session exec", "interactive:execute", "Run a command in a session"),
        Command("session terminal", "interactive:terminal", "Work in a session"),
        Command("session rename", "session_life:rename", "Give a session another name"),
        Command("session rm", "session_life:rm", "End sessions"),
        Command("session why", "scheduling:why", "Say why a session waits, and what would start it"),
        Command(
            "session check", "scheduling:check", "Say what would happen to a session, without starting it"
        ),
        Command("session priority", "scheduling:priority", "Let a waiting session start sooner or later"),
        Command("app ls", "apps:ls", "List the apps of a session"),
        Command("app open", "apps:open_app", "Open an app of a session"),
        Command("image ls", "catalogue:images", "List images"),
        Command("events", "catalogue:events", "Show what happened, or what happens"),
        Command("resources", "catalogue:resources", "Show what there is and what is left"),
        Command("held", "ledger:held", "Show what sessions hold, added up by node, holder or group"),
        Command("keypair ls", "credentials:keypairs", "List keypairs"),
        Command("keypair create", "credentials:create_keypair", "Make a keypair"),
        Command("keypair update", "credentials:update_keypair", "Name, stop or limit a keypair"),
        Command("keypair rotate", "credentials:rotate_keypair", "Give a keypair another secret"),
        Command("keypair rm", "credentials:remove_keypair", "Delete keypairs"),
        Command("token ls", "credentials:tokens", "List your personal tokens"),
        Command(
            "token create", "credentials:create_token", "Make a personal token with scopes and an expiry"
        ),
        Command("token rm", "credentials:remove_token", "Revoke personal tokens"),
        Command("ssh-key ls", "credentials:ssh_keys", "List your SSH keys"),
        Command("ssh-key add", "credentials:add_ssh_key", "Add a public key, or make a pair"),
        Command("ssh-key rm", "credentials:remove_ssh_key", "Forget SSH keys"),
        Command("audit ls", "audit:ls", "List who did what"),
        Command("audit export", "audit:export", "Save who did what as a file"),
        Command("audit verify", "audit:verify", "Prove that nobody altered the audit trail"),
        Command("user ls", "users:ls", "List users"),
        Command("user show", "users:show", "Show one user"),
        Command("user create", "users:create", "Make a user"),
        Command("user import", "users_many:import_users", "Make the users of a CSV sheet"),
        Command("user generate", "users_many:generate", "Make users by a pattern"),
        Command("user update", "users:update", "Change a user"),
        Command("user disable", "users:disable", "Shut people out, at once"),
        Command("user activate", "users:activate", "Let people in again"),
        Command("user purge", "users_many:purge", "Delete inactive users for good"),
        Command("project ls", "projects:ls", "List projects"),
        Command("project show", "projects:show", "Show one project"),
        Command("project create", "projects:create", "Make a project"),
        Command("project update", "projects:update", "Change a project"),
        Command("project archive", "projects:archive", "Take no new sessions in a project"),
        Command("project restore", "projects:restore", "Take sessions in an archived project again"),
        Command("project over", "ledger:project_over", "Say where a project would be over its ceilings"),
        Command("project rm", "projects:rm", "Remove projects that never held a session"),
        Command("project members", "projects:members", "List who is in a project"),
        Command("project enrol", "projects:enrol", "Put people in a project"),
        Command(
            "project appoint", "projects:appoint", "Make members administrators of a project, or no more"
        ),
        Command("project expel", "projects:expel", "Take people out of a project"),
        Command("domain ls", "domains:ls", "List domains"),
        Command("domain show", "domains:show", "Show one domain"),
        Command("domain create", "domains:create", "Make a domain"),
        Command("domain update", "domains:update", "Change a domain"),
        Command("domain enable", "domains:enable", "Let the people of a domain in again"),
        Command("domain disable", "domains:disable", "Sign everybody of a domain out, at once"),
        Command("domain over", "ledger:domain_over", "Say where a domain would be over its ceilings"),
        Command("domain rm", "domains:rm", "Remove domains that hold nothing"),
        Command("policy ls", "policies:ls", "List resource policies"),
        Command("policy mine", "policies:mine", "Show what limits you"),
        Command("policy show", "policies:show", "Show one policy"),
        Command("policy create", "policies:create", "Make a policy"),
        Command("policy edit", "policies:edit", "Change a policy"),
        Command("policy over", "policies:over", "Say who would be over a policy"),
        Command("policy copy", "policies:copy", "Make another policy with the same limits"),
        Command("policy assign", "policies:assign", "Give a policy to keypairs, people or projects"),
        Command("policy rm", "policies:rm", "Remove policies that nobody has"),
        Command("group ls", "groups:ls", "List resource groups"),
        Command("group show", "groups:show", "Show one resource group"),
        Command("group create", "groups:create", "Make a resource group"),
        Command("group edit", "groups:edit", "Change a resource group"),
        Command("group access", "groups:access", "Show or change who may use a group"),
        Command("group weights", "groups:weights", "Show or change the weights of a group's fair share"),
        Command("group rm", "groups:rm", "Remove resource groups that hold nothing"),
        Command("node ls", "nodes:ls", "List nodes"),
        Command("node show", "nodes:show", "Show one node, and what is on it"),
        Command("node edit", "nodes:edit", "Change a node's group, reserve and over-commitment"),
        Command("node cordon", "nodes:cordon", "Place nothing new on nodes"),
        Command("node uncordon", "nodes:uncordon", "Place sessions on nodes again"),
        Command("node drain", "nodes:drain", "Empty a node"),
        Command("preset ls", "presets:ls", "List presets"),
        Command("preset create", "presets:create", "Make a preset"),
        Command("preset edit", "presets:edit", "Change a preset"),
        Command("preset rm", "presets:rm", "Remove presets"),
        Command("sign-in ls", "sign_ins:ls", "List where you are signed in"),
        Command("sign-in rm", "sign_ins:rm", "Sign browsers out"),
        Command("site show", "site:show", "Show the settings of the installation"),
        Command("site set", "site:change", "Change settings of the installation"),
        Command("site test-mail", "site:test_mail", "Send a letter, to see whether mail works"),
        Command("provider ls", "providers:ls", "List identity providers"),
        Command("provider show", "providers:show", "Show how a provider is set up"),
        Command("provider add", "providers:add", "Set an identity provider up"),
        Command("provider update", "providers:update", "Change an identity provider"),
        Command("provider test", "providers:test", "Say step by step whether a provider works"),
        Command("provider rm", "providers:rm", "Remove identity providers"),
        Command("scheduler queue", "scheduling:queue", "Show who waits in a resource group, in order"),
        Command("scheduler shares", "scheduling:shares", "Show who has had how much of a resource group"),
        Command("scheduler simulate", "scheduler:simulate", "Replay a trace under a policy"),
        Command("scheduler policy", "scheduler:policy", "Print the present policy, to change and replay it"),
        Command("scheduler trace", "scheduler:trace", "Print what was asked for, to replay it"),
        Command("scheduler synth", "scheduler:synth", "Print a trace that nobody made"),
        Command("server status", "catalogue:status", "Show the health of each part of the server"),
        Command("completion", "completion:completion", "Print what makes your shell complete carrel's words"),
    )
}

# Commands of the one who runs the server; the server's own package has them.
OPERATOR = {
    "up": "Start Carrel on this machine",
    "down": "Stop it; sessions keep running",
    "status": "Show each part of it",
    "serve": "Run chosen parts of it in the foreground",
    "test": "Run its test suite",
    "bench": "Measure it",
}
