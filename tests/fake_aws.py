"""What AWS answers of the API of ECR, and an instance of its metadata service, in one process.

`async with FakeAws() as aws` serves both on a free port of 127.0.0.1: `aws.url`. It takes only requests that are signed
with the key of `keys`, and temporary keys only with their session token.
Source: the API reference of ECR, and the guides of Signature Version 4 and of IMDSv2.
"""

import base64
import hashlib
import hmac
import re
from datetime import UTC, datetime, timedelta
from types import TracebackType

from aiohttp import web

ACCESS_KEY, SECRET_KEY = "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
ROLE_KEY, ROLE_SECRET, SESSION = (
    "ASIAIOSFODNN7EXAMPLE",
    "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEROLE",
    "session/token==",
)
_SIGNED = re.compile(
    r"AWS4-HMAC-SHA256 Credential=(\w+)/((\d{8})/([a-z0-9-]+)/ecr/aws4_request), "
    r"SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})"
)


class FakeAws:
    """keys: secret keys by access key. regions: of the requests. lifetime: of passwords, from `now`."""

    def __init__(self) -> None:
        self.keys = {ACCESS_KEY: SECRET_KEY, ROLE_KEY: ROLE_SECRET}
        self.regions: list[str] = []
        self.now = datetime.now(UTC)
        self.lifetime = timedelta(hours=12)
        self.url = ""

    @property
    def password(self) -> str:
        """The last that was given."""
        return f"password-{len(self.regions)}"

    async def __aenter__(self) -> "FakeAws":
        app = web.Application()
        app.router.add_post("/", self._ecr)
        app.router.add_put("/latest/api/token", self._metadata_token)
        app.router.add_get("/latest/meta-data/iam/security-credentials/{role:.*}", self._role)
        self._runner = web.AppRunner(app)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._runner.cleanup()

    async def _ecr(self, request: web.Request) -> web.Response:
        match = _SIGNED.fullmatch(request.headers.get("Authorization", ""))
        if match is None:
            return _refused("MissingAuthenticationTokenException", "Missing Authentication Token")
        access_key, scope, day, region, listed, signature = match.groups()
        secret = self.keys.get(access_key)
        given = request.headers.get("X-Amz-Security-Token", "")
        if secret is None or (given or SESSION) != SESSION or access_key.startswith("ASIA") != bool(given):
            return _refused(
                "UnrecognizedClientException", "The security token included in the request is invalid."
            )
        at, target = request.headers["X-Amz-Date"], request.headers["X-Amz-Target"]
        names = listed.split(";")
        assert {"host", "x-amz-date", "x-amz-target"} <= set(names)
        body = await request.read()
        lines = [
            *("POST", "/", ""),
            *(f"{name}:{request.headers[name]}" for name in names),
            *("", listed, hashlib.sha256(body).hexdigest()),
        ]
        digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
        key = b"AWS4" + secret.encode()
        for part in (day, region, "ecr", "aws4_request"):
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        text = f"AWS4-HMAC-SHA256\n{at}\n{scope}\n{digest}"
        if hmac.new(key, text.encode(), hashlib.sha256).hexdigest() != signature:
            return _refused(
                "InvalidSignatureException",
                "The request signature we calculated does not match the signature you provided.",
            )
        assert target == "AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken"
        self.regions.append(region)
        token = base64.b64encode(f"AWS:{self.password}".encode()).decode()
        until = (self.now + self.lifetime).timestamp()
        answer = {"authorizationData": [{"authorizationToken": token, "expiresAt": until}]}
        return web.json_response(answer, content_type="application/x-amz-json-1.1")

    async def _metadata_token(self, request: web.Request) -> web.Response:
        assert request.headers["X-aws-ec2-metadata-token-ttl-seconds"]
        return web.Response(text="metadata")

    async def _role(self, request: web.Request) -> web.Response:
        if request.headers.get("X-aws-ec2-metadata-token") != "metadata":
            return web.Response(status=401)
        if not request.match_info["role"]:
            return web.Response(text="carrel-node\n")
        keys = {"AccessKeyId": ROLE_KEY, "SecretAccessKey": ROLE_SECRET, "Token": SESSION, "Code": "Success"}
        return web.json_response(keys, content_type="text/plain")


def _refused(kind: str, message: str) -> web.Response:
    body = {"__type": f"com.amazon.coral.service#{kind}", "message": message}
    return web.json_response(body, status=400, content_type="application/x-amz-json-1.1")
