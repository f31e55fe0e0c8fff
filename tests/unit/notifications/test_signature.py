"""Signatures of webhook deliveries, against the example of the specification."""

import pytest

from carrel.notifications import signature

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def test_the_example_of_standard_webhooks():
    body = b'{"test": 2432232314}'
    assert signature.headers([SECRET], "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body) == {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }


def test_two_secrets_give_two_signatures():
    other = signature.new_secret()
    both = signature.headers([other, SECRET], "msg_1", 1614265330, b"{}")["webhook-signature"].split(" ")
    alone = [
        signature.headers([one], "msg_1", 1614265330, b"{}")["webhook-signature"] for one in (other, SECRET)
    ]
    assert both == alone


def test_new_secrets_differ_and_are_valid():
    made = {signature.new_secret() for _ in range(10)}
    assert len(made) == 10
    assert all(map(signature.is_secret, made))


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_c2hvcnQ=", "whsec_not base64!", SECRET[6:]])
def test_what_is_no_secret(secret: str):
    assert not signature.is_secret(secret)
