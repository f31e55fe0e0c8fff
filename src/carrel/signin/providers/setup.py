"""The settings of a provider: which its kind has, how they are checked, and how they are kept."""

from collections.abc import Iterable, Mapping
from typing import Any, cast

from pydantic import SecretStr

from carrel import plugins
from carrel.core.errors import Invalid
from carrel.db.encryption import SecretBox
from carrel.identity.port import Connect, ProviderContext
from carrel.identity.settings import ProviderSettings, SharedSettings
from carrel.plugins import Port
from carrel.tables.providers import Provider


def schema_of(kind: str) -> dict[str, Any]:
    """The JSON schema of the settings of a kind: its own first, then those that every kind has."""
    schema = plugins.find(Port.IDENTITY, kind).schema()
    shared = SharedSettings.model_fields.keys()
    own = {name: one for name, one in schema["properties"].items() if name not in shared}
    return {**schema, "properties": {**own, **schema["properties"]}}


def shared_of(row: Provider) -> SharedSettings:
    """What Carrel itself goes by, whether or not the plug-in is there."""
    return SharedSettings.model_validate(row.settings)


def opened(seal: SecretBox, row: Provider, names: Iterable[str]) -> dict[str, str]:
    """These of the secrets. Raises: Unavailable when one does not open."""
    return {name: seal.open(bytes.fromhex(row.secrets[name]), _purpose(row)).decode() for name in names}


def keep(seal: SecretBox, row: Provider, values: Mapping[str, Any]) -> None:
    """Give the row these settings, and no others. Raises: Invalid naming the first that is wrong; Unavailable."""
    plugin = plugins.find(Port.IDENTITY, row.kind)
    settings = cast(ProviderSettings, plugin.checked(values))
    connect = cast(Connect, plugin.make(settings))
    try:
        connect(ProviderContext(row.name)).close()
    except Invalid as error:
        error.field = f"settings.{error.field}"
        raise
    secrets = {
        name: secret.get_secret_value()
        for name in values
        if isinstance(secret := getattr(settings, name), SecretStr)
    }
    row.settings = settings.model_dump(mode="json", include=values.keys() - secrets.keys())
    row.secrets = {name: seal.close(secret.encode(), _purpose(row)).hex() for name, secret in secrets.items()}
    row.server = settings.server


def change(seal: SecretBox, row: Provider, given: Mapping[str, Any]) -> None:
    """Update the given settings; null resets one to its default.

    Raises: Invalid, also when secrets would go to another server than they were given for; Unavailable.
    """
    stay = row.secrets.keys() - given.keys()
    server = row.server
    merged = {**row.settings, **opened(seal, row, stay), **given}
    keep(seal, row, {name: value for name, value in merged.items() if value is not None})
    if stay and row.server != server:
        raise Invalid(
            "provider.secret_again",
            "The secret was given for another server.",
            hint="Give the secret together with the new address.",
            field=f"settings.{min(stay)}",
        )


def _purpose(row: Provider) -> str:
    """What a provider's secrets are sealed for."""
    return f"provider:{row.id}"
