"""schemathesis asks everything that the OpenAPI document allows, and some that it does not."""

import asyncio
import os
from collections.abc import Callable
from functools import cache

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import SearchStrategy
from installation import Api, document
from people_kit import appoint
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
# Bytes are bytes, whatever a protocol calls them.
for _kind in ("application/offset+octet-stream", "application/x-tar"):
    schemathesis.serializer.alias(_kind, "application/octet-stream")
# What would end the run's own credentials, or never end; and last what changes the rules for all the rest.
LEFT_OUT = ("auth.logout",)
LAST = ("nodes.update", "nodes.drain", "site.update")
MORE = int(os.environ.get("CARREL_FUZZ", "1"))
EXAMPLES = {"anonymous": 1, "user": 3, "project_admin": 1, "domain_admin": 1, "superadmin": 4}


def examples(count: int) -> settings:
    """The same requests at every run."""
    return settings(
        max_examples=count,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


@pytest.mark.parametrize("role", EXAMPLES)
async def test_nothing_that_anybody_asks_breaks_it(living: Api, role: str):
    actors = await appoint(living)
    auth = await living.keypair(actors[role]) if role in actors else None
    owner = await living.as_("user")
    made = await owner.start(name="fuzzed")
    await living.until(owner, made["id"], "RUNNING")
    far = living.people.foreigner
    # Half of the requests are for something that there is; of another domain, so that none of the run's own goes.
    known = {"sessions": made["id"], "users": far.user_id, "domains": far.domain_id}
    known["vfolders"] = (await owner.post("/vfolders", {"name": "fuzzed"})).json()["id"]
    known |= {"projects": next(iter(far.projects)), "policies": "default-project", "nodes": "local"}
    admin = await living.as_("superadmin")
    for kind, body in (
        ("groups", {"name": "fuzzed"}),
        ("presets", {"name": "fuzzed", "slots": {"cpu": 1000}}),
    ):
        known[kind] = (await admin.post(f"/{kind}", body)).json()["id"]
    broken = await asyncio.to_thread(run, living.url, auth, known, EXAMPLES[role] * MORE)
    assert not broken, "\n\n".join(broken[:10])


def run(url: str, auth: tuple[str, str] | None, known: dict[str, str], count: int) -> list[str]:
    """Everything that went wrong, as text. Runs beside the event loop that serves the API."""
    broken: list[str] = []
    counts: dict[str, int] = {}

    def asking(name: str) -> Callable[[schemathesis.Case], None]:
        def ask(case: schemathesis.Case) -> None:
            counts[name] = counts.get(name, 0) + 1
            case.query = {key: value for key, value in (case.query or {}).items() if key != "follow"}
            kind = case.path.split("/")[3]
            if "ref" in (case.path_parameters or {}) and kind in known and counts[name] % 2:
                case.path_parameters["ref"] = known[kind]
            response = case.call(base_url=url, auth=auth, timeout=20)
            try:
                case.validate_response(response, checks=CHECKS)
            except (Failure, FailureGroup) as failure:
                broken.append(f"{name}: {failure}")

        return ask

    for name, strategy in strategies().items():
        examples(count)(given(case=strategy)(asking(name)))()
    assert counts.keys() == strategies().keys()
    return broken


@cache
def strategies() -> dict[str, SearchStrategy[schemathesis.Case]]:
    """By id of the operation, those of LAST last. Made once: that takes as long as all requests of a role."""
    schema = schemathesis.openapi.from_dict(document())
    operations = {}
    for result in schema.get_all_operations():
        operation = result.ok()
        operations[operation.definition.raw["operationId"]] = operation.as_strategy()
    for name in LEFT_OUT:
        del operations[name]
    return dict(sorted(operations.items(), key=lambda each: each[0] in LAST))
