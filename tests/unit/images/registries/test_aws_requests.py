"""Signatures of AWS, compared with an example of its documentation."""

from datetime import UTC, datetime

from carrel.images.registries.aws_requests import AwsKeys, signed


def test_a_request_is_signed_as_in_the_example_of_aws() -> None:
    # Source: the General Reference of AWS, "Signature Version 4 signing process", with the keys of its test suite.
    keys = AwsKeys("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
    headers = signed(
        keys,
        "https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08",
        {"content-type": "application/x-www-form-urlencoded; charset=utf-8"},
        b"",
        region="us-east-1",
        service="iam",
        now=datetime(2015, 8, 30, 12, 36, tzinfo=UTC),
        method="GET",
    )
    assert headers["Authorization"] == (
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, "
        "SignedHeaders=content-type;host;x-amz-date, "
        "Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"
    )
