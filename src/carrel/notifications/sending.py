"""Posts one delivery to its URL."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import aiohttp

from carrel.http import addresses
from carrel.http.addresses import CheckedResolver, ForbiddenAddress

TIMEOUT_S = 10.0
_MOST_READ = 64 * 1024
_LONGEST_ERROR = 500


@dataclass(frozen=True)
class Attempt:
    """status_code None: there was no response. error None: delivered."""

    status_code: int | None
    error: str | None


async def post(url: str, body: bytes, headers: Mapping[str, str], *, private: bool) -> Attempt:
    """Post the body. Redirects are not followed, and only the beginning of the response is read.

    private: see `addresses.check`.
    """
    connector = aiohttp.TCPConnector(
        resolver=CheckedResolver(private=private),
        use_dns_cache=False,
        # The resolver is not used for a literal address.
        socket_factory=partial(addresses.checked_socket, private=private),
    )
    sent = {"content-type": "application/json", "user-agent": "Carrel", **headers}
    try:
        async with (
            aiohttp.ClientSession(
                connector=connector, timeout=aiohttp.ClientTimeout(total=TIMEOUT_S), trust_env=False
            ) as client,
            client.post(url, data=body, headers=sent, allow_redirects=False) as response,
        ):
            await response.content.read(_MOST_READ)
            code = response.status
    except TimeoutError:
        return Attempt(None, f"No response within {TIMEOUT_S:.0f} s.")
    except (aiohttp.ClientError, ForbiddenAddress, OSError, ValueError, asyncio.IncompleteReadError) as error:
        return Attempt(None, str(_cause(error))[:_LONGEST_ERROR] or type(error).__name__)
    finally:
        await connector.close()
    return Attempt(code, None if code in range(200, 300) else f"The receiver responded with {code}.")


def _cause(error: BaseException) -> BaseException:
    """A forbidden address arrives wrapped as a failed connection."""
    if isinstance(error, aiohttp.ClientConnectorError) and isinstance(error.os_error, ForbiddenAddress):
        return error.os_error
    return error
