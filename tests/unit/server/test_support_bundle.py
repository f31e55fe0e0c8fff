"""What a support bundle leaves out of logs."""

import pytest

from carrel.server.maintenance.bundle import without_credentials


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://carrel:hunter2@db/carrel",
        "postgresql://carrel:hun/hunter2@db/carrel",
        "Authorization: Bearer hunter2",
        '{"mail_password": "hunter2"}',
        "client_secret=hunter2&x=1",
        "access_token=hunter2",
        "api-key: hunter2",
    ],
)
def test_credentials_are_left_out(text: str):
    assert "hunter2" not in without_credentials(text)


@pytest.mark.parametrize("text", ["GET http://node:2375/info 200", "session tok-1 at http://a:1/b"])
def test_addresses_stay(text: str):
    assert without_credentials(text) == text
