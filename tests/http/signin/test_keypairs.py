"""Keypairs, personal tokens and SSH keys through the API."""

import pytest
from cryptography.hazmat.primitives.serialization import load_ssh_private_key
from databases import sql
from installation import API, Api, Caller

RSA_1024 = (
    "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQC4QrktplsjB3PWS3qxf6qJtlhnJc5T/h+BrMP5L/rqMKA4nYjwLYg3gz24MICR"
    "VEfQQjSLrnYk3hs6mMHqBsru0eVNDI3v6Jww2p5bSMNwnk6v/lVXcWkiIGCJxdAdIHzIL3pDl7L5NTTk4M+vhcmU92x0RFQLrHPV"
    "05Ha1cUmmQ=="
)


async def bearer(api: Api, token: str) -> Caller:
    return Caller("token", None, await api.client(headers={"Authorization": f"Bearer {token}"}))


async def test_a_keypair_works_until_it_is_deactivated_and_again_when_activated(api: Api):
    user = await api.browser("user")
    made = (await user.post("/keypairs", {"name": "laptop"})).json()
    script = Caller("script", None, await api.client(auth=(made["access_key"], made["secret_key"])))
    assert (await script.get("/auth/me")).status_code == 200
    for active, status in ((False, 401), (True, 200)):
        changed = await user.patch(f"/keypairs/{made['access_key']}", {"active": active})
        assert changed.json()["active"] is active
        assert changed.json()["name"] == "laptop"
        assert (await script.get("/auth/me")).status_code == status


async def test_a_rotated_keypair_has_another_secret_and_the_former_is_refused(api: Api):
    user = await api.browser("user")
    made = (await user.post("/keypairs")).json()
    rotated = (await user.post(f"/keypairs/{made['access_key']}/rotate")).json()
    assert rotated["secret_key"] != made["secret_key"]
    for secret, status in ((made["secret_key"], 401), (rotated["secret_key"], 200)):
        client = await api.client(auth=(made["access_key"], secret))
        assert (await client.get(f"{API}/auth/me")).status_code == status


async def test_secret_keys_are_letters_and_digits_so_that_programs_take_none_for_an_option(api: Api):
    user = await api.browser("user")
    secrets = [(await user.post("/keypairs")).json()["secret_key"] for _ in range(20)]
    assert [secret for secret in secrets if not (secret.isascii() and secret.isalnum())] == []


async def test_administrators_see_and_stop_keypairs_but_cannot_become_their_owner(api: Api):
    user, admin, stranger = await api.browser("user"), await api.as_("superadmin"), await api.as_("stranger")
    key = (await user.post("/keypairs")).json()["access_key"]
    seen = (await admin.get("/keypairs", params={"owner": "all"})).json()["items"]
    assert key in {pair["access_key"] for pair in seen}
    assert (await admin.post(f"/keypairs/{key}/rotate")).status_code == 403
    assert (await admin.patch(f"/keypairs/{key}", {"rate_limit": 100})).json()["rate_limit"] == 100
    assert (await user.patch(f"/keypairs/{key}", {"rate_limit": 200})).status_code == 403
    for request in (
        stranger.patch(f"/keypairs/{key}", {"active": False}),
        stranger.delete(f"/keypairs/{key}"),
    ):
        assert (await request).json()["code"] == "keypair.not_found"
    assert (await admin.delete(f"/keypairs/{key}")).status_code == 204


async def test_a_token_reaches_no_further_than_its_scopes(api: Api):
    user = await api.browser("user")
    made = (await user.post("/tokens", {"name": "watch", "scopes": ["session.read", "image.*"]})).json()
    script = await bearer(api, made["token"])
    assert (await script.get("/sessions")).status_code == 200
    assert (await script.get("/images")).status_code == 200
    session = await user.start()
    assert (await script.get(f"/sessions/{session['id']}")).status_code == 200
    refused = await script.delete(f"/sessions/{session['id']}")
    assert (refused.status_code, refused.json()["code"]) == (403, "policy.scope")
    for path in ("/keypairs", "/tokens"):
        body = {"name": "x", "scopes": ["*"]}
        assert (await script.post(path, body)).json()["code"] == "policy.scope"


async def test_a_token_makes_no_wider_token_and_no_keypair(api: Api):
    user = await api.browser("user")
    scopes = ["token.*", "keypair.*", "session.read"]
    script = await bearer(api, (await user.post("/tokens", {"name": "t", "scopes": scopes})).json()["token"])
    for wide in (["*"], ["session.*"], ["session.remove"]):
        refused = await script.post("/tokens", {"name": "wide", "scopes": wide})
        assert (refused.status_code, refused.json()["code"]) == (403, "token.wider_scope"), wide
    assert (await script.post("/tokens", {"name": "same", "scopes": ["session.read"]})).status_code == 201
    assert (await script.post("/keypairs")).status_code == 403


async def test_a_token_ends_by_its_expiry_and_by_revocation(api: Api):
    user = await api.browser("user")
    made = (await user.post("/tokens", {"name": "t", "scopes": ["*"], "expires_in_days": 1})).json()
    script = await bearer(api, made["token"])
    assert (await script.get("/auth/me")).status_code == 200
    await sql(api.database, "UPDATE tokens SET expires_at = now()")
    api.services.authenticator.forget()
    assert (await script.get("/auth/me")).status_code == 401
    other = (await user.post("/tokens", {"name": "u", "scopes": ["*"], "expires_in_days": None})).json()
    assert other["expires_at"] is None
    script = await bearer(api, other["token"])
    assert (await script.get("/auth/me")).status_code == 200
    assert (await user.delete(f"/tokens/{other['id']}")).status_code == 204
    assert (await script.get("/auth/me")).status_code == 401


@pytest.mark.parametrize("scope", ["nonsense", "session", "session.fly", "*.read", "*.*"])
async def test_a_scope_that_there_is_not_is_refused(api: Api, scope: str):
    answer = await (await api.as_("user")).post("/tokens", {"name": "t", "scopes": [scope]})
    assert (answer.status_code, answer.json()["code"]) == (422, "token.unknown_scope")


async def test_tokens_are_seen_by_their_owner_alone(api: Api):
    user, admin = await api.browser("user"), await api.as_("superadmin")
    made = (await user.post("/tokens", {"name": "t", "scopes": ["*"]})).json()
    assert (await admin.get("/tokens")).json()["items"] == []
    assert (await admin.delete(f"/tokens/{made['id']}")).json()["code"] == "token.not_found"
    assert made["token"] not in (await user.get("/tokens")).text


async def test_an_ssh_key_is_made_and_its_private_half_is_shown_once(api: Api):
    user = await api.as_("user")
    made = (await user.post("/ssh-keys", {"name": "desk"})).json()
    private = load_ssh_private_key(made["private_key"].encode(), None)
    assert private.public_key().public_bytes_raw().hex()  # type: ignore[union-attr]
    listed = (await user.get("/ssh-keys")).json()["items"]
    assert [key["fingerprint"] for key in listed] == [made["fingerprint"]]
    assert "PRIVATE" not in str(listed)
    again = await user.post("/ssh-keys", {"name": "again", "public_key": made["public_key"] + " a comment"})
    assert (again.status_code, again.json()["code"]) == (409, "ssh_key.known")
    assert (await (await api.as_("colleague")).delete(f"/ssh-keys/{made['id']}")).status_code == 404
    assert (await user.delete(f"/ssh-keys/{made['id']}")).status_code == 204


@pytest.mark.parametrize(
    ("public_key", "code"),
    [("", "ssh_key.invalid"), ("ssh-ed25519 AAAA", "ssh_key.invalid"), (RSA_1024, "ssh_key.weak")],
)
async def test_what_is_no_good_public_key_is_refused(api: Api, public_key: str, code: str):
    answer = await (await api.as_("user")).post("/ssh-keys", {"name": "k", "public_key": public_key})
    assert (answer.status_code, answer.json()["code"]) == (422, code)
