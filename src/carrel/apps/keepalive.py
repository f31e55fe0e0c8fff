"""Noticing WebSocket clients that are dead, and only those.

The server pings each client and drops it when no answer comes. That is right for a terminal, whose client
always reads and answers. It is wrong for a command: its client stops reading while its own output goes to a
pager, and we stop reading while the command does not take its input. Then silence says nothing, and the
connection is left to TCP.
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
