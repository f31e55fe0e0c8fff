"""Parts of the OpenAPI document that the framework cannot derive."""


def header(name: str, kind: str, description: str, *, required: bool = False) -> dict[str, object]:
    """A request header that the endpoint reads directly."""
    return {
        "name": name,
        "in": "header",
        "required": required,
        "description": description,
        "schema": {"type": kind},
    }
