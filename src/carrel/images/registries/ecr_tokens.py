"""Passwords of Amazon ECR, which are valid for 12 hours: renewed by keys of AWS, or by the role of the instance.

    user name                   secret            what a session pulls with
    AWS                         a password        that, until it has expired
    AKIA..., an access key      its secret key    AWS and a password that is renewed
    instance-role               none              AWS and a password that is renewed; of the installation only

Source: https://docs.aws.amazon.com/AmazonECR/latest/APIReference/API_GetAuthorizationToken.html
"""

import base64
import re
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import aiohttp
import orjson

from carrel.images.registries.aws_requests import AwsKeys, keys_of_instance, signed
from carrel.images.registries.registry_errors import RegistryError
from carrel.tables.registries import ImageRegistry, RegistryKind

USERNAME = "AWS"
INSTANCE_ROLE = "instance-role"
_ACCESS_KEY = re.compile(r"AKIA[A-Z0-9]{12,124}")
_HOST = re.compile(r"\d{12}\.dkr\.ecr(?:-fips)?\.([a-z0-9-]+)\.(amazonaws\.com(?:\.cn)?)")
_OPERATION = {
    "content-type": "application/x-amz-json-1.1",
    "x-amz-target": "AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken",
}
_TIMEOUT = aiohttp.ClientTimeout(total=30, sock_connect=5)
_SERVICE = "ecr"


class EcrPassword(NamedTuple):
    text: str
    until: datetime

    def renewed_at(self, now: datetime) -> datetime:
        """Half of its time is left for further attempts."""
        return now + max((self.until - now) / 2, timedelta())


def is_renewed(registry: ImageRegistry) -> bool:
    """True if its password comes from keys or a role."""
    if registry.kind != RegistryKind.ECR:
        return False
    if registry.secret is None:
        return registry.username == INSTANCE_ROLE
    return _ACCESS_KEY.fullmatch(registry.username) is not None


def place(host: str) -> tuple[str, str]:
    """Region and URL of the API for a registry. Raises: ValueError if it is none of ECR."""
    if not (match := _HOST.fullmatch(host)):
        raise ValueError(host)
    return match[1], f"https://api.ecr.{match[1]}.{match[2]}/"


async def request(registry: ImageRegistry, secret: str, now: datetime) -> EcrPassword:
    """A new password. Raises: RegistryError."""
    try:
        async with aiohttp.ClientSession(timeout=_TIMEOUT, trust_env=True) as http:
            if registry.username == INSTANCE_ROLE:
                # Not through a proxy, which would have its own role.
                async with aiohttp.ClientSession(timeout=_TIMEOUT) as metadata:
                    keys = await keys_of_instance(metadata)
            else:
                keys = AwsKeys(registry.username, secret)
            region, url = place(registry.host)
            headers = signed(keys, url, _OPERATION, b"{}", region=region, service=_SERVICE, now=now)
            async with http.post(url, data=b"{}", headers=headers) as answer:
                status, body = answer.status, await answer.read()
    except (aiohttp.ClientError, OSError, ValueError, KeyError) as error:
        what = str(error) or type(error).__name__
        raise RegistryError("unreachable", f"AWS gives no password: {what}.", retriable=True) from error
    return _password(status, body)


def _password(status: int, body: bytes) -> EcrPassword:
    try:
        answer: Any = orjson.loads(body)
        if status != 200:
            kind = str(answer.get("__type", status)).rpartition("#")[2]
            text = str(answer.get("message") or answer.get("Message") or "no reason given").rstrip(".")
            raise RegistryError("denied", f"AWS refuses a password ({kind}): {text}.")
        given = answer["authorizationData"][0]
        _, _, password = base64.b64decode(given["authorizationToken"]).decode().partition(":")
        return EcrPassword(password, datetime.fromtimestamp(given["expiresAt"], UTC))
    except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise RegistryError("broken", f"AWS answered something unexpected ({status}).") from error
