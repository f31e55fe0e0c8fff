"""Each value of a query parameter has one spelling, on every route."""

import re

import pytest
from installation import API, Api, document

LENIENT = {"boolean": ("0", "1", "off", "True", " true"), "integer": ("5.0", "+5", " 5", "1_0", "05")}


def typed_parameters() -> list[tuple[str, str, str]]:
    """Path, parameter and type of what routes that read take as a boolean or an integer."""
    parameters = []
    for path, operations in document()["paths"].items():
        for parameter in operations.get("get", {}).get("parameters", []):
            schema = parameter["schema"]
            for each in (schema, *schema.get("anyOf", [])):
                if parameter["in"] == "query" and each.get("type") in LENIENT:
                    parameters.append((path, parameter["name"], each["type"]))
    return parameters


@pytest.mark.parametrize(("path", "name", "kind"), typed_parameters())
async def test_other_spellings_are_refused(api: Api, path: str, name: str, kind: str):
    admin = await api.as_("superadmin")
    address = re.sub(r"\{\w+\}", "none", path)
    for value in LENIENT[kind]:
        answer = await admin.http.get(f"{API}{address.removeprefix(API)}", params={name: value})
        assert answer.status_code == 422, (value, answer.text)
        assert answer.json()["code"] == "invalid.request"
