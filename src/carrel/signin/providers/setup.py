"""Settings of providers: schema, validation and storage."""

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
    """The JSON schema of a kind's settings: its own first, then the common ones."""
    schema = plugins.find(Port.IDENTITY, kind).schema()
    shared = SharedSettings.model_fields.keys()
    own = {name: one for name, one in schema["properties"].items() if name not in shared}
    return {**schema, "properties": {**own, **schema["properties"]}}


def shared_of(row: Provider) -> SharedSettings:
    """The common settings, which Carrel itself uses, independent of the plug-in."""
    return SharedSettings.model_validate(row.settings)


def opened(seal: SecretBox, row: Provider, names: Iterable[str]) -> dict[str, str]:
    """The decrypted secrets. Raises: Unavailable when one cannot be decrypted."""
    return {name: seal.open(bytes.fromhex(row.secrets[name]), _purpose(row)).decode() for name in names}


def keep(seal: SecretBox, row: Provider, values: Mapping[str, Any]) -> None:
    """Replace the settings of the row. Raises: Invalid naming the first invalid one; Unavailable."""
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

    Raises: Invalid, also when secrets would be sent to a server other than the one they were set for; Unavailable.
    """
    stay = row.secrets.keys() - given.keys()
    server = row.server
    merged = {**row.settings, **opened(seal, row, stay), **given}
    keep(seal, row, {name: value for name, value in merged.items() if value is not None})
    if stay and row.server != server:
        raise Invalid(
            "provider.secret_again",
            "The secret belongs to the previous server.",
            hint="Set the secret together with the new address.",
            field=f"settings.{min(stay)}",
        )


def _purpose(row: Provider) -> str:
    """The encryption context of a provider's secrets."""
    return f"provider:{row.id}"
