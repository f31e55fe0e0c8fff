"""schemathesis asks everything that the OpenAPI document allows, and some that it does not."""

import asyncio
from collections.abc import Callable

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from installation import Api
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

# The same requests at every run.
SETTINGS = settings(
    max_examples=25,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
# What would end the run's own credentials, or never end.
LEFT_OUT = ("auth.logout",)


async def test_nothing_that_is_asked_breaks_it(living: Api):
    key, secret = await living.keypair(living.people.superadmin)
    user = await living.as_("superadmin")
    made = await user.start(name="fuzzed")
    await living.until(user, made["id"], "RUNNING")
    broken = await asyncio.to_thread(run, living.url, (key, secret), made["id"])
    assert not broken, "\n\n".join(broken[:10])


def run(url: str, auth: tuple[str, str], session: str) -> list[str]:
    """Everything that went wrong, as text. Runs beside the event loop that serves the API."""
    schema = schemathesis.openapi.from_url(f"{url}/api/v1/openapi.json")
    broken: list[str] = []
    asked: dict[str, int] = {}

    def asking(name: str) -> Callable[[schemathesis.Case], None]:
        def ask(case: schemathesis.Case) -> None:
            asked[name] = asked.get(name, 0) + 1
            case.query = {key: value for key, value in (case.query or {}).items() if key != "follow"}
            if "ref" in (case.path_parameters or {}) and asked[name] % 2:
                case.path_parameters["ref"] = session
            response = case.call(auth=auth, timeout=20)
            try:
                case.validate_response(response, checks=CHECKS)
            except (Failure, FailureGroup) as failure:
                broken.append(f"{name}: {failure}")

        return ask

    for result in schema.get_all_operations():
        operation = result.ok()
        name = operation.definition.raw["operationId"]
        if name not in LEFT_OUT:
            SETTINGS(given(case=operation.as_strategy())(asking(name)))()
    assert len(asked) >= 20
    return broken
