"""Requests to the APIs of AWS: keys, the instance's role, and Signature Version 4.

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
"""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from urllib.parse import urlsplit

import aiohttp

_ALGORITHM = "AWS4-HMAC-SHA256"
INSTANCE = "http://169.254.169.254"
"""Where an instance learns about itself (IMDSv2)."""
_LIFETIME = {"X-aws-ec2-metadata-token-ttl-seconds": "60"}
_ROLES = "latest/meta-data/iam/security-credentials/"


@dataclass(frozen=True)
class AwsKeys:
    """session: the token of keys that are valid for some time; empty: they are permanent."""

    access_key: str
    secret_key: str = field(repr=False)
    session: str = field(default="", repr=False)


def signed(
    keys: AwsKeys,
    url: str,
    headers: Mapping[str, str],
    body: bytes,
    *,
    region: str,
    service: str,
    now: datetime,
) -> dict[str, str]:
    """The headers with those that sign a POST. headers: names in lower case. url: without a query."""
    at = now.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
    address = urlsplit(url)
    all_headers = {**headers, "host": address.netloc, "x-amz-date": at}
    if keys.session:
        all_headers["x-amz-security-token"] = keys.session
    # 1. the request as AWS writes it down
    names = sorted(all_headers)
    listed = ";".join(names)
    lines = "".join(f"{name}:{all_headers[name].strip()}\n" for name in names)
    digest = hashlib.sha256(body).hexdigest()
    request = "\n".join(["POST", address.path or "/", "", lines, listed, digest])
    # 2. what is signed, with a key of this day, region and service
    scope = f"{at[:8]}/{region}/{service}/aws4_request"
    text = "\n".join([_ALGORITHM, at, scope, hashlib.sha256(request.encode()).hexdigest()])
    key = f"AWS4{keys.secret_key}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    signature = hmac.new(key, text.encode(), "sha256").hexdigest()
    credential = f"Credential={keys.access_key}/{scope}"
    authorization = f"{_ALGORITHM} {credential}, SignedHeaders={listed}, Signature={signature}"
    return {**all_headers, "Authorization": authorization}


async def keys_of_instance(http: aiohttp.ClientSession) -> AwsKeys:
    """Those of the role of the machine on which this runs. Raises: ClientError, OSError, ValueError without a role."""
    async with http.put(f"{INSTANCE}/latest/api/token", headers=_LIFETIME, raise_for_status=True) as answer:
        header = {"X-aws-ec2-metadata-token": await answer.text()}
    async with http.get(f"{INSTANCE}/{_ROLES}", headers=header, raise_for_status=True) as answer:
        roles = (await answer.text()).split()
    if not roles:
        raise ValueError("the instance has no role")
    async with http.get(f"{INSTANCE}/{_ROLES}{roles[0]}", headers=header, raise_for_status=True) as answer:
        given = await answer.json(content_type=None)
    return AwsKeys(given["AccessKeyId"], given["SecretAccessKey"], given["Token"])
