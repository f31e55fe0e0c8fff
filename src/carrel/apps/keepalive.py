"""Detection of dead WebSocket clients.

The server pings each client and drops it without a pong. This fits terminals, whose clients always read. It does not
fit commands: the client stops reading while its output goes to a pager, and the server stops reading while the
command does not consume its input. Silence is inconclusive then, and TCP detects dead connections.
"""

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol


class PatientProtocol(WebSocketsSansIOProtocol):
    """For `uvicorn.Config(ws=...)`."""

    def keepalive_timeout(self) -> None:
        if self.read_paused or self.scope["path"].endswith("/exec"):
            self.pong_timer = None
            self.pending_ping_payload = None
            self.schedule_ping()
        else:
            super().keepalive_timeout()
