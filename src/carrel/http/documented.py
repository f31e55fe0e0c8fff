"""Pieces of the OpenAPI document that the framework does not find out by itself."""


def header(name: str, kind: str, description: str, *, required: bool = False) -> dict[str, object]:
    """A request header that the endpoint reads by itself."""
    return {
        "name": name,
        "in": "header",
        "required": required,
        "description": description,
        "schema": {"type": kind},
    }
