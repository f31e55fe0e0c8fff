"""Three kinds of resource policies, read once: what is unlimited is None, and nothing else is."""

from dataclasses import FrozenInstanceError, fields

import pytest

from carrel.limits.schemas import LIMITS
from carrel.limits.scopes import ceiling_of
from carrel.tables.limits import PolicyKind
from carrel.tables.policies import (
    KeypairPolicy,
    ProjectPolicy,
    UseLimit,
    UserPolicy,
    folder_policy,
    keypair_policy,
    most,
    project_policy,
    user_policy,
)
from carrel.tables.session_states import Rights

KEYPAIR = {
    "slots": {"cpu": 4000, "*": "unlimited"},
    "sessions": 3,
    "pending_sessions": "unlimited",
    "pending_slots": {"cpu": 0},
    "containers_per_session": 1,
    "lifetime_s": "unlimited",
    "idle_timeout_s": 60,
    "idle_use": {"window_s": 600, "grace_s": 0, "below": {"cpu": 5}},
    "max_priority": 50,
    "max_rights": "plain",
    "default_disk_bytes": 1 << 30,
    "max_disk_bytes": "unlimited",
    "storage_hosts": ["local"],
    "log_bytes": 1 << 20,
}
USER = {"slots": {}, "sessions": 0, "folders": "unlimited", "folder_bytes": 7}
READ = {
    PolicyKind.KEYPAIR: KeypairPolicy,
    PolicyKind.USER: UserPolicy,
    PolicyKind.PROJECT: ProjectPolicy,
}


@pytest.mark.parametrize("kind", PolicyKind)
def test_what_is_written_is_read(kind: PolicyKind):
    assert [field.name for field in fields(READ[kind])] == list(LIMITS[kind].model_fields)


def test_limits_of_a_keypair_are_read():
    policy = keypair_policy(KEYPAIR)
    assert policy == KeypairPolicy(
        slots={"cpu": 4000, "*": None},
        sessions=3,
        pending_sessions=None,
        pending_slots={"cpu": 0},
        containers_per_session=1,
        lifetime_s=None,
        idle_timeout_s=60,
        idle_use=UseLimit(600, 0, {"cpu": 5}),
        max_priority=50,
        storage_hosts=("local",),
        log_bytes=1 << 20,
        max_rights=Rights.PLAIN,
        default_disk_bytes=1 << 30,
        max_disk_bytes=None,
    )
    free = keypair_policy(KEYPAIR | {"idle_use": "unlimited", "storage_hosts": "unlimited"})
    assert (free.idle_use, free.storage_hosts) == (None, None)
    with pytest.raises(FrozenInstanceError):
        policy.sessions = 4  # type: ignore[misc]


def test_limits_of_people_and_projects_are_read():
    known = UserPolicy(slots={}, sessions=0, folders=None, folder_bytes=7, environment_bytes=None)
    assert user_policy(USER) == known, "older rows have no limit of environments"
    assert user_policy({**USER, "environment_bytes": 9}).environment_bytes == 9
    assert folder_policy("user", USER) == user_policy(USER)
    project = {"folders": 0, "folder_bytes": "unlimited", "max_rights": "plain"}
    read = ProjectPolicy(folders=0, folder_bytes=None, environment_bytes=None, max_rights=Rights.PLAIN)
    assert folder_policy("project", project) == project_policy(project) == read
    assert (most("unlimited"), most(0)) == (None, 0)


def test_a_slot_that_is_not_named_falls_under_the_star_and_without_it_there_is_none():
    assert ceiling_of({"cpu": 5, "*": None}, None, ["cpu", "mem"]) == {"cpu": 5}
    assert ceiling_of({"cpu": 5}, 2, ["cpu", "mem"]) == {"cpu": 5, "mem": 0, "sessions": 2}
