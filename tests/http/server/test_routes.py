"""Every route names its action, and lets in exactly those whom the one table lets in.

Expected answers are worked out from the table by `permissions.decide`, which is proved by itself in
`tests/unit/permissions/test_policy.py`.
"""

import inspect
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

import pytest
from databases import sql
from environment_kit import add_environment
from installation import API, Api, Caller, document
from node_kit import join, machine
from people import PASSWORD
from people_kit import appoint
from session_kit import SMALL

from carrel.apps import streams
from carrel.core.clock import SystemClock
from carrel.core.ids import DomainId, ProjectId, UserId, new_id
from carrel.permissions.actions import ACTIONS
from carrel.permissions.decide import Actor, Target, allows, widest
from carrel.signin.keypairs import service as keypairs
from carrel.tables.tenancy import User

ROLES = ("anonymous", "user", "project_admin", "domain_admin", "superadmin")
PLACES = ("own", "same project", "same domain", "other domain")
# What reads a thing of the kind that an action is about, for "may they know of it".
READS = {
    "session": "session.read",
    "app": "session.read",
    "keypair": "keypair.read",
    "login": "login.read",
    "project": "project.read",
    "domain": "domain.read",
    "user": "user.read",
    "factor": "user.read",
    "vfolder": "vfolder.read",
    "schedule": "schedule.read",
    "template": "template.read",
    "webhook": "webhook.read",
    "app_template": "app_template.read",
    "environment": "environment.read",
    "registry": "registry.read",
}
# Found by their owner alone: for others there is none.
PRIVATE = (
    "views.update",
    "views.remove",
    "app_templates.show",
    "app_templates.update",
    "app_templates.remove",
    "dotfiles.show",
    "tokens.remove",
    "ssh_keys.remove",
    "passkeys.rename",
    "passkeys.remove",
    "invitations.accept",
    "invitations.decline",
    "dotfiles.set",
    "dotfiles.remove",
)
OIDC = {"issuer": "http://127.0.0.1:9", "client_id": "carrel"}
BODIES: Mapping[str, object] = {
    "app_templates.create": {"name": "other", "title": "Other", "port": 8050},
    "app_templates.update": {"title": "Another"},
    "apps.create": {"port": 8000},
    "auth.confirm": {"password": "wrong"},
    "auth.factor": {"code": "000000"},
    "auth.forgot": {"email": "nobody@example.org"},
    "auth.login": {"email": "user@example.org", "password": "wrong"},
    "auth.reset": {"token": "wrong", "password": PASSWORD},
    "auth.sign_up": {"email": "new@example.org", "name": "New", "password": PASSWORD},
    "auth.verify": {"token": "wrong"},
    "auth.verify_again": {"email": "nobody@example.org"},
    "auth.providers_exchange": {"code": "wrong", "verifier": "w" * 43},
    "definitions.read": {"text": "image: debian:12"},
    "definitions.write": {"image": "debian:12", "slots": SMALL},
    "domains.create": {"name": "new"},
    "domains.over": {"ceilings": {"cpu": 1}},
    "domains.update": {"description": "another"},
    "files.copy": {"paths": ["a"], "to": "b"},
    "files.link": {"paths": ["a"]},
    "files.make_directory": {"path": "a"},
    "files.move": {"paths": ["a"], "to": "b"},
    "files.pack": {"paths": ["a"]},
    "files.remove": {"paths": ["a"]},
    "groups.change_access": {"users": {"user@example.org": True}},
    "groups.change_weights": {"users": {"user@example.org": 2}},
    "groups.create": {"name": "new"},
    "engines.check_settings": {"kind": "fake"},
    "groups.preview_selector": {"selector": "gpu"},
    "groups.set_access": {"users": ["user@example.org"]},
    "groups.set_weights": {"users": {"user@example.org": 2}},
    "groups.update": {"description": "another"},
    "imports.preview": {"url": "https://github.com/acme/work"},
    "keypairs.update": {"name": "another"},
    "image_pulls.create": {"reference": "debian:12", "nodes": ["machine"]},
    "images.prune": {"dry_run": True},
    "images.update": {"aliases": []},
    "image_updates.take": {"image": "d"},
    "image_updates.skip": {"image": "d"},
    "image_updates.check": {},
    "accelerator_checks.create": {"node": "machine"},
    "nodes.drain": {"how": "wait"},
    "nodes.forget": {"confirm": "machine"},
    "nodes.put_back": {"device": "gpu"},
    "nodes.update": {"cordoned": True},
    "passkeys.rename": {"name": "another"},
    "password.update": {"current": "wrong", "new": PASSWORD},
    "policies.assign": {"users": []},
    "policies.copy": {"name": "another"},
    "policies.create": {
        "kind": "project",
        "name": "new",
        "limits": {"folders": 1, "folder_bytes": "unlimited"},
    },
    "policies.over": {"limits": {"sessions": 1}},
    "policies.update": {"limits": {"sessions": 1}},
    "presets.create": {"name": "new", "slots": {"cpu": 1000}},
    "presets.update": {"slots": {"cpu": 2000}},
    "profile.update": {"name": "Another"},
    "project_members.add": {"users": ["user@example.org"]},
    "project_members.update": {"admin": False},
    "notifications.update": {"started": ["page"]},
    "projects.archive": {"sessions": "keep"},
    "projects.create": {"name": "new"},
    "projects.over": {"ceilings": {"cpu": 1}},
    "projects.update": {"description": "another"},
    "image_scans.create": {"image": "debian:12"},
    "image_scans.exempt": {"reason": "no fix yet", "until": "2020-01-01T00:00:00Z"},
    "rescans.create": {"kind": "images"},
    "registries.create": {"name": "other", "url": "https://registry.example.org"},
    "registries.update": {"tags": ["1.*"]},
    "providers.create": {"name": "other", "domain": "default", "kind": "oidc", "settings": OIDC},
    "providers.update": {"active": False},
    "templates.create": {"name": "other", "session": {"image": "debian:12", "slots": SMALL}},
    "templates.preview": {},
    "templates.start": {},
    "templates.update": {"description": "another"},
    "schedules.create": {
        "name": "other-schedule",
        "cron": "0 6 * * *",
        "session": {"image": "debian:12", "slots": SMALL},
    },
    "views.update": {"name": "another"},
    "schedules.update": {"cron": "0 7 * * *"},
    "sessions.check": {"slots": SMALL},
    "sessions.create": {"image": "debian:12", "slots": SMALL},
    "sessions.exempt": {"exempt": True},
    "sessions.extend": {"time_limit_s": 7200},
    "sessions.resize": {"cpu": 200},
    "sessions.prioritise": {"priority": 40},
    "sessions.join": {"token": "wrong"},
    "sessions.rename": {"name": "another-name"},
    "sessions.share": {"user": "nobody@example.org"},
    "shares.create": {"users": ["nobody@example.org"]},
    "shares.update": {"permission": "ro"},
    "site.test_mail": {"to": "nobody@example.org"},
    "site.update": {"announcement": "Hello"},
    "engines.create": {"name": "local", "kind": "fake"},
    "engines.update": {},
    "storage_hosts.create": {"name": "new", "root": "/etc"},
    "storage_hosts.check": {},
    "storage_hosts.set_access": {"projects": []},
    "storage_hosts.set_location": {"location": None},
    "storage_hosts.update": {"description": "another"},
    "ssh_keys.add": {"name": "key"},
    "ssh_keys.certify": {"public_key": "ssh-ed25519 x"},
    "dotfiles.set": {"content": "x"},
    "views.create": {"list": "sessions", "name": "mine", "search": {"state": "ended"}},
    "tokens.create": {"name": "token", "scopes": ["session.read"]},
    "totp.confirm": {"code": "000000"},
    "users.create": {"email": "another@example.org", "name": "Another", "password": PASSWORD},
    "users.create_many": {"rows": [{"email": "row@example.org", "name": "Row"}]},
    "users.purge": {"confirm": "nobody@example.org"},
    "users.purge_many": {"users": [{"user": "nobody@example.org", "confirm": "nobody@example.org"}]},
    "users.update": {"description": "another"},
    "vfolders.clone": {"name": "another"},
    "vfolders.create": {"name": "new"},
    "vfolders.hand_over": {},
    "vfolders.move": {"host": "local"},
    "vfolders.update": {"usage_mode": "data"},
    "environments.annotate": {"note": "another"},
    "environments.build": {"name": "mine", "files": {"apt.txt": "; no package"}},
    "environments.cancel": {},
    "environments.fetch_context": {"url": "https://no-such-host.invalid/a/b.git"},
    "environments.push": {},
    "environments.read_context": {"folder": "no-such-folder"},
    "environments.rebuild": {"note": "again"},
    "environments.share": {"user": "nobody@example.org"},
    "environments.update": {"description": "another"},
    "sessions.save": {"name": "torch"},
    "webhooks.create": {"name": "other", "url": "https://hooks.example.org/other"},
    "webhooks.update": {"active": False},
    "webhooks.rotate": {"overlap_s": 3600},
    "policies.dry_run": {"idle_timeout_s": 3600},
}

QUERIES: Mapping[str, Mapping[str, str]] = {
    "audit.export": {"format": "csv"},
    "held.list": {"by": "user"},
    "schedules.times": {"cron": "0 6 * * *"},
    "usage.history": {"scope": "user"},
    "usage.recent": {"sessions": "k3fabcdefghi"},
    "files.search": {"q": "a"},
    "vfolders.remove": {"name": "wrong"},
    "files.archive": {"path": "a"},
    "files.download": {"path": "a"},
    "files.show": {"path": "a"},
    "files.write": {"path": "a"},
}
TUS = {"Tus-Resumable": "1.0.0"}
BEGIN = {**TUS, "Upload-Length": "3", "Upload-Metadata": "path YQ=="}
HEADERS: Mapping[str, Mapping[str, str]] = {
    "uploads.append": {**TUS, "Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"},
    "uploads.create": BEGIN,
    "uploads.remove": TUS,
    "uploads.show": TUS,
}
# Besides their own action these need another to the folder: who copies it reads it; and whoever sees it is told that
# there is nothing to leave.
DECIDES = {
    "vfolders.clone": "vfolder.use",
    "shares.leave": "vfolder.read",
    "sessions.leave": "session.read",
}
# Things that are the installation's own, by one that is always there.
ANYONES = {
    "policies": "default-user",
    "groups": "default",
    "nodes": "machine",
    "image_pulls": "pulled",
    "accelerator_checks": "checked",
    "presets": "small",
    "engines": "local",
    "storage_hosts": "local",
    "image_scans": "scanned",
    "rescans": "images",
}


@cache
def operations() -> dict[str, tuple[str, str, str]]:
    """Operation id -> method, path below /api/v1, and action."""
    return {
        operation["operationId"]: (method.upper(), path.removeprefix(API), operation["x-carrel-action"])
        for path, methods in document()["paths"].items()
        for method, operation in methods.items()
    }


def test_every_route_names_an_action_of_the_one_table_and_every_action_has_a_route():
    named = {action for _, _, action in operations().values()}
    # What is no route of its own: WebSockets, and what a body asks for.
    of_streams = {name for name in ACTIONS if f'"{name}"' in inspect.getsource(streams)}
    assert named <= set(ACTIONS)
    assert set(ACTIONS) - named - of_streams == {
        "keypair.limit",
        "session.designate",
        "session.prioritise",
        "user.appoint",
    }


@dataclass
class Things:
    """What somebody has, by the name that stands for it in a path."""

    target: Target
    user: str
    ids: dict[str, str] = field(default_factory=dict)


async def possess(api: Api, actor: Actor, project: ProjectId) -> Things:
    """Give somebody one thing of each kind, found by the names in paths."""
    async with api.database.transaction() as tx:
        spare = await keypairs.create(tx, SystemClock(), actor)
        user = await tx.get_one(User, actor.user_id)
        email = user.email
    pair = await api.keypair(actor)
    own = Caller("owner", actor, await api.client(auth=pair))
    browser = await api.client()
    signed_in = await browser.post(f"{API}/auth/login", json={"email": email, "password": PASSWORD})
    assert signed_in.status_code == 200, signed_in.text
    session = await own.start(project=project)
    recurring = {"image": "debian:12", "slots": SMALL, "project": project}
    schedule = await own.post("/schedules", {"name": "nightly", "cron": "0 6 * * *", "session": recurring})
    assert schedule.status_code == 201, schedule.text
    body = {"name": f"desk-{actor.user_id}", "shared": True, "session": recurring}
    template = await own.post("/templates", body)
    assert template.status_code == 201, template.text
    app = await own.post("/app-templates", {"name": "dash", "title": "Dash", "port": 8050})
    environment = f"e-{actor.user_id}"[:12]
    await add_environment(api.database, environment, actor)
    token = (await own.post("/tokens", {"name": "t", "scopes": ["*"]})).json()
    key = (await own.post("/ssh-keys", {"name": "k"})).json()
    hook = (await own.post("/webhooks", {"name": "hook", "url": "https://hooks.example.org/"})).json()["id"]
    delivery = (await own.post(f"/webhooks/{hook}/test")).json()["id"]
    dotfile = f".rc-{actor.user_id}"
    assert (await own.ask("PUT", f"/dotfiles/{dotfile}", json={"content": "x"})).status_code == 200
    view = await own.post("/views", {"list": "sessions", "name": "v", "search": {}})
    login = (await own.get("/logins")).json()["items"][0]
    folder = (await own.post("/vfolders", {"name": "data"})).json()["id"]
    upload = await own.post(f"/vfolders/{folder}/uploads", headers=BEGIN)
    assert upload.status_code == 201, upload.text
    registry = await registry_of(api, project)
    image = await image_of_all(api)
    task = (await own.post(f"/vfolders/{folder}/clone", {"name": "copy"})).json()["task"]
    return Things(
        Target(UserId(actor.user_id), project, DomainId(actor.domain_id)),
        actor.user_id,
        {
            "access_key": spare.access_key,
            "session": session["id"],
            "schedule": schedule.json()["id"],
            "template": template.json()["id"],
            "environment": environment,
            "version": "1",
            "push": "none",
            "token": token["id"],
            "key": key["id"],
            "dotfile": dotfile,
            "view": view.json()["id"],
            "webhook": hook,
            "delivery": delivery,
            "registry": registry,
            "image": image,
            "login": login["id"],
            "user": actor.user_id,
            "project": project,
            "domain": actor.domain_id,
            "app": "notes",
            "app_template": app.json()["id"],
            "passkey": "AAAA",
            "folder": folder,
            "task": task["id"],
            "share": "nobody@example.org",
            "upload": upload.headers["location"].rpartition("/")[2],
        },
    )


async def registry_of(api: Api, project: ProjectId) -> str:
    """A registry of the project, which nothing can reach."""
    admin = await api.as_("superadmin")
    body = {"name": f"images-{new_id()}", "url": "http://127.0.0.1:9", "project": project}
    made = await admin.post("/registries", body)
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


async def image_of_all(api: Api) -> str:
    """An image of the catalogue that everybody may use."""
    image = new_id()
    await sql(
        api.database,
        "INSERT INTO images (id, name, reference, title, description, present, min_slots, apps)"
        f" VALUES ('{image}', '{image}', 'localhost/{image}:1', '', '', true,"
        " jsonb_build_object('cpu', 1, 'mem', 1), '[]')",
    )
    return image


async def scan_of_an_image(api: Api) -> None:
    """A scan that has ended, of an image of the catalogue."""
    await sql(
        api.database,
        "INSERT INTO images (id, name, reference, title, description, present, min_slots, apps)"
        " VALUES ('i', 'd', 'debian:12', '', '', true, jsonb_build_object('cpu', 1, 'mem', 1), '[]')",
    )
    await sql(
        api.database,
        "WITH result AS (INSERT INTO image_reports VALUES ('d', 'x', now(), 0, '{}', :report, :report)"
        " RETURNING digest) INSERT INTO image_scans (id, reference, state, requested_at, ended_at, digest)"
        " SELECT 'scanned', 'docker.io/library/debian:12', 'done', now(), now(), digest FROM result",
        report=zlib.compress(b'{"packages": [], "vulnerabilities": []}'),
    )


def place_of(path: str, things: Things) -> str:
    """The path with this person's things in it."""
    kind = {
        "sessions": "session",
        "schedules": "schedule",
        "templates": "template",
        "environments": "environment",
        "projects": "project",
        "domains": "domain",
        "users": "user",
        "vfolders": "folder",
        "vfolder-tasks": "task",
        "registries": "registry",
        "images": "image",
    }
    for name in (
        "access_key",
        "token",
        "key",
        "login",
        "user",
        "app",
        "app_template",
        "passkey",
        "share",
        "upload",
        "dotfile",
        "view",
        "webhook",
        "delivery",
        "version",
        "push",
    ):
        path = path.replace("{" + name + "}", things.ids[name])
    first = path.split("/")[1]
    return path.replace("{ref}", things.ids[kind.get(first, "user")])


def target_of(path: str, things: Things) -> Target:
    """What the table is asked about."""
    first = path.split("/")[1]
    if first == "domains":
        return Target(domain_id=things.target.domain_id)
    if first in ("projects", "registries"):
        return Target(project_id=things.target.project_id, domain_id=things.target.domain_id)
    if first in ("webhooks", "app-templates"):
        return Target(owner_id=things.target.owner_id)
    if first in ("keypairs", "logins", "vfolders", "vfolder-tasks", "environments"):
        return Target(owner_id=things.target.owner_id, domain_id=things.target.domain_id)
    return things.target


def expected(actor: Actor | None, name: str, things: Things | None) -> str:
    """ "in", "out" (401), "forbidden" (403) or "missing" (404), by the table."""
    _, path, action = operations()[name]
    if ACTIONS[action].public:
        return "in"
    if actor is None:
        return "out"
    if not widest(actor, action):
        return "forbidden"
    if things is None:
        return "in"
    if name in PRIVATE:
        return "in" if things.user == actor.user_id else "missing"
    if name == "uploads.options":
        return "in"  # it says what the server can do, and nothing of the folder
    action = DECIDES.get(name, action)
    target = target_of(path, things)
    if allows(actor, action, target):
        return "in"
    return "forbidden" if allows(actor, READS[ACTIONS[action].about], target) else "missing"


def outcome(status: int, code: str, name: str) -> str:
    if ACTIONS[operations()[name][2]].public:
        return "in"
    if code in ("auth.required", "auth.bad_keypair"):
        return "out"
    if code in ("policy.forbidden", "policy.scope", "user.ranks_higher"):
        return "forbidden"
    # A second factor, a passkey, an app, a share, a file, a push and the folder of a build's context are not made here:
    # that there is none is an answer from inside.
    inside = ("passkey.", "app.", "factor.", "share.", "invitation.", "file.", "push.")
    if status == 404 and not code.startswith(inside) and name != "environments.read_context":
        return "missing"
    assert status < 500, (name, status, code)
    return "in"


async def ask(who: Caller, name: str, path: str) -> tuple[int, str]:
    method = operations()[name][0]
    query = QUERIES.get(name)
    answer = await who.ask(method, path, json=BODIES.get(name), params=query, headers=HEADERS.get(name, {}))
    code = ""
    if method == "HEAD":
        # It has no words; one that there is, one may not know of, or nobody is let in.
        code = {401: "auth.required", 403: "policy.forbidden"}.get(answer.status_code, "")
    elif answer.status_code >= 400:
        assert answer.headers["content-type"] == "application/problem+json"
        code = answer.json()["code"]
        assert code != "invalid.request", (name, answer.text)
    return answer.status_code, code


def anyones(name: str) -> bool:
    """Whether the path names a thing of the installation, and nobody's."""
    return "provider" in name or name.split(".")[0] in ANYONES


def in_order(names: list[str]) -> list[str]:
    """Reading first, and last what removes."""
    rank = {"OPTIONS": 0, "HEAD": 0, "GET": 0, "PATCH": 1, "PUT": 1, "POST": 2, "DELETE": 3}
    last = (
        "environments.remove",
        "factors.reset",
        "users.recover",
        "project_members.remove",
        "logins.remove_all",
        "auth.logout",
    )
    late = {name: number for number, name in enumerate(last, 1)}
    return sorted(names, key=lambda name: (late.get(name, 0), rank[operations()[name][0]], name))


async def who_asks(api: Api, role: str) -> tuple[Caller, Actor | None, dict[str, Actor]]:
    actors = await appoint(api)
    if role == "anonymous":
        return Caller(role, None, await api.client()), None, actors
    actor = actors[role]
    return Caller(role, actor, await api.client(auth=await api.keypair(actor))), actor, actors


@pytest.mark.parametrize("role", ROLES)
async def test_each_role_gets_at_the_things_of_each_place_as_the_table_says(api: Api, role: str):
    who, actor, _ = await who_asks(api, role)
    people = api.people
    far = next(iter(people.foreigner.projects))
    owners = {
        "same project": (people.colleague, people.project),
        "same domain": (people.stranger, people.other_project),
        "other domain": (people.foreigner, far),
    }
    if actor:
        owners = {"own": (actor, next(iter(actor.projects))), **owners}
    names = in_order(
        [name for name, (_, path, _) in operations().items() if "{" in path and not anyones(name)]
    )
    got, expected_outcomes = {}, {}
    for place, (owner, project) in owners.items():
        things = await possess(api, owner, project)
        for name in names:
            if place == "own" and operations()[name][2] == "project.enrol":
                continue  # whoever leaves a project is no longer who they were
            path = place_of(operations()[name][1], things)
            status, code = await ask(who, name, path)
            got[place, name] = outcome(status, code, name)
            expected_outcomes[place, name] = expected(actor, name, things)
            if name in PRIVATE[8:]:
                expected_outcomes[place, name] = "in" if actor else "out"
    assert got == expected_outcomes


@pytest.mark.parametrize("role", ROLES)
async def test_each_role_gets_at_what_is_nobodys_as_the_table_says(api: Api, role: str):
    who, actor, _ = await who_asks(api, role)
    provider = {"name": "sso", "domain": "default", "kind": "oidc", "settings": OIDC}
    admin = await api.as_("superadmin")
    assert (await admin.post("/providers", provider)).status_code == 201
    assert (await admin.post("/presets", {"name": "small", "slots": {"cpu": 1000}})).status_code == 201
    await join(api.database, machine("machine"))
    await scan_of_an_image(api)
    await sql(
        api.database,
        "INSERT INTO image_pulls (id, reference, created_at) VALUES ('pulled', 'debian:12', now());"
        " INSERT INTO node_pulls (pull_id, node_id) SELECT 'pulled', id FROM nodes;"
        " INSERT INTO accelerator_checks (id, node_id, created_at) SELECT 'checked', id, now() FROM nodes;"
        " INSERT INTO device_conditions (node_id, device, description, healthy, problem, since, metrics, measured_at)"
        " SELECT id, 'gpu', '{\"family\": \"cuda\", \"model\": \"\"}', TRUE, '', now(), '{}', now() FROM nodes",
    )
    names = in_order(
        [name for name, (_, path, _) in operations().items() if "{" not in path or anyones(name)]
    )
    # Their bodies are made by an authenticator; tests/http/auth_kit.py has one.
    names = [name for name in names if name not in ("passkeys.create", "auth.passkey")]
    got, expected_outcomes = {}, {}
    for name in names:
        ref = ANYONES.get(name.split(".")[0], "sso")
        path = (
            operations()[name][1]
            .replace("{ref}", ref)
            .replace("{id}", ref)
            .replace("{pull}", ref)
            .replace("{check}", ref)
            .replace("{name}", "sso")
            .replace("{engine}", "local")
            .replace("{kind}", ref)
        )
        status, code = await ask(who, name, path)
        got[name], expected_outcomes[name] = outcome(status, code, name), expected(actor, name, None)
    assert got == expected_outcomes


def test_the_walks_know_a_body_for_every_operation_that_takes_one():
    needing = {
        operation["operationId"]
        for methods in document()["paths"].values()
        for operation in methods.values()
        if operation.get("requestBody", {}).get("required")
    }
    # Those are made by a browser's authenticator, and this one's bytes may be none.
    assert needing - set(BODIES) == {"passkeys.create", "auth.passkey", "files.unpack"}


@pytest.mark.parametrize("role", ROLES[1:])
async def test_lists_hold_what_the_table_lets_one_see_and_nothing_else(api: Api, role: str):
    who, actor, _ = await who_asks(api, role)
    assert actor
    people = api.people
    far = next(iter(people.foreigner.projects))
    owners = [
        (actor, next(iter(actor.projects))),
        (people.colleague, people.project),
        (people.stranger, people.other_project),
        (people.foreigner, far),
    ]
    everything = [await possess(api, owner, project) for owner, project in owners]
    lists = {
        "sessions": ("/sessions?owner=all", "session", "session.read"),
        "schedules": ("/schedules?owner=all", "schedule", "schedule.read"),
        "templates": ("/templates?owner=all", "template", "template.read"),
        "environments": ("/environments?owner=all", "environment", "environment.read"),
        "keypairs": ("/keypairs?owner=all", "access_key", "keypair.read"),
        "users": ("/users", "user", "user.read"),
        "projects": ("/projects", "project", "project.read"),
        "domains": ("/domains", "domain", "domain.read"),
        "vfolders": ("/vfolders?of=all", "folder", "vfolder.read"),
    }
    for name, (path, kind, action) in lists.items():
        answer = await who.get(path)
        if not widest(actor, action):
            assert answer.status_code == 403, name
            continue
        assert answer.status_code == 200, answer.text
        shown = {item.get("id") or item["access_key"] for item in answer.json()["items"]}
        for things in everything:
            seen = allows(actor, action, target_of("/" + name, things))
            assert (things.ids[kind] in shown) == seen, (name, things.target)
    events = (await who.get("/events")).text
    for things in everything[1:]:
        assert things.ids["session"] not in events


async def test_what_one_may_not_know_of_is_word_for_word_what_there_is_not(api: Api):
    stranger = await api.as_("stranger")
    things = await possess(api, api.people.user, api.people.project)
    for path, kind in (
        ("/sessions/{}", "session"),
        ("/users/{}", "user"),
        ("/projects/{}", "project"),
        ("/keypairs/{}", "access_key"),
        ("/logins/{}", "login"),
        ("/templates/{}", "template"),
        ("/environments/{}", "environment"),
        ("/vfolders/{}", "folder"),
        ("/vfolder-tasks/{}", "task"),
    ):
        texts = []
        for ref in (
            things.ids[kind],
            things.ids[kind].translate(str.maketrans("abcdefABCDEF", "ghijklGHIJKL")),
        ):
            method = "DELETE" if path.startswith(("/keypairs", "/logins")) else "GET"
            answer = await stranger.ask(method, path.format(ref))
            assert answer.status_code == 404, (path, answer.text)
            body = answer.json()
            texts.append({**body, "request_id": "", "detail": body["detail"].replace(ref, "REF")})
        assert texts[0] == texts[1], path


async def test_a_project_of_others_is_not_there(api: Api):
    stranger = await api.as_("stranger")
    for project in (api.people.project, "nonesuch"):
        answer = await stranger.try_start(project=project)
        assert (answer.status_code, answer.json()["code"]) == (404, "project.not_found")
