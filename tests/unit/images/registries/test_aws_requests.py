"""Signatures of AWS, compared with an example of its test suite."""

from datetime import UTC, datetime

from carrel.images.registries.aws_requests import AwsKeys, signed


def test_a_request_is_signed_as_in_the_test_suite_of_aws() -> None:
    # Source: AWS Signature Version 4 test suite, post-vanilla.
    keys = AwsKeys("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
    headers = signed(
        keys,
        "https://example.amazonaws.com/",
        {},
        b"",
        region="us-east-1",
        service="service",
        now=datetime(2015, 8, 30, 12, 36, tzinfo=UTC),
    )
    assert headers["Authorization"] == (
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
        "SignedHeaders=host;x-amz-date, "
        "Signature=5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"
    )
