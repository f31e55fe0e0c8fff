"""The two WebAuthn ceremonies, registration and authentication, by the webauthn library.

The library takes 6 MiB of memory, which installations without passkeys never need: import this module when a passkey
is used.

Source: Web Authentication Level 2, 7.1 and 7.2.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import webauthn
from webauthn.helpers import base64url_to_bytes, parse_client_data_json
from webauthn.helpers.exceptions import WebAuthnException
from webauthn.helpers.structs import (
    AuthenticatorSelectionCriteria,
    AuthenticatorTransport,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from carrel.tables.logins import Passkey

UNVERIFIED = (WebAuthnException, ValueError, KeyError, TypeError)
"""Errors of the functions below for a credential that is malformed or not verified."""


@dataclass(frozen=True)
class Registered:
    """A verified new passkey."""

    credential_id: bytes
    public_key: bytes
    sign_count: int


def registration_options(
    host: str, site_name: str, *, user_name: str, user_id: str, challenge: bytes, known: Sequence[Passkey]
) -> dict[str, Any]:
    """Browser options for creating a passkey other than the known ones."""
    options = webauthn.generate_registration_options(
        rp_id=host,
        rp_name=site_name,
        user_name=user_name,
        user_id=user_id.encode(),
        challenge=challenge,
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.REQUIRED,
            user_verification=UserVerificationRequirement.PREFERRED,
        ),
        exclude_credentials=[_descriptor(key) for key in known],
    )
    return _plain(webauthn.options_to_json(options))


def registered(credential: Mapping[str, Any], challenge: bytes, host: str, origin: str) -> Registered:
    """The passkey that the browser created. Raises: UNVERIFIED."""
    made = webauthn.verify_registration_response(
        credential=dict(credential),
        expected_challenge=challenge,
        expected_rp_id=host,
        expected_origin=origin,
    )
    return Registered(made.credential_id, made.credential_public_key, made.sign_count)


def authentication_options(host: str, challenge: bytes, known: Sequence[Passkey] | None) -> dict[str, Any]:
    """Browser options for using one of the known passkeys; None: any passkey, which must verify its user."""
    options = webauthn.generate_authentication_options(
        rp_id=host,
        challenge=challenge,
        allow_credentials=[_descriptor(key) for key in known] if known is not None else None,
        user_verification=UserVerificationRequirement.PREFERRED
        if known is not None
        else UserVerificationRequirement.REQUIRED,
    )
    return _plain(webauthn.options_to_json(options))


def authenticated(
    credential: Mapping[str, Any], challenge: bytes, host: str, origin: str, key: Passkey, *, verified: bool
) -> int:
    """The new sign count of the passkey that signed the challenge. verified: its user must be. Raises: UNVERIFIED."""
    proved = webauthn.verify_authentication_response(
        credential=dict(credential),
        expected_challenge=challenge,
        expected_rp_id=host,
        expected_origin=origin,
        credential_public_key=key.public_key,
        credential_current_sign_count=key.sign_count,
        require_user_verification=verified,
    )
    return proved.new_sign_count


def answered(credential: Mapping[str, Any]) -> bytes:
    """The challenge that the browser answered. Raises: UNVERIFIED."""
    return parse_client_data_json(base64url_to_bytes(credential["response"]["clientDataJSON"])).challenge


def _descriptor(key: Passkey) -> PublicKeyCredentialDescriptor:
    known = {transport.value for transport in AuthenticatorTransport}
    transports = [AuthenticatorTransport(name) for name in key.transports if name in known]
    return PublicKeyCredentialDescriptor(id=key.id, transports=transports)


def _plain(options: str) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(options)
    return plain
