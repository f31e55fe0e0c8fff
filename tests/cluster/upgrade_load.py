"""Clients that go on while the control plane is replaced: requests, a followed event stream, an upload in parts."""

import base64
import hashlib
import json
import secrets
import threading
from collections.abc import Callable

import httpx2
from chart_release import Release

_PART = 64 << 10
_PARTS = 400


class Load:
    """`with Load(release) as load:`; what went wrong is in `failures`."""

    def __init__(self, release: Release) -> None:
        self._release = release
        self._ends = threading.Event()
        self._follows = threading.Event()
        self._changed_all = threading.Event()
        self._threads = [
            threading.Thread(target=self._caught, args=(work,))
            for work in (self._balance, self._request, self._change, self._follow, self._upload)
        ]
        self._addresses = release.ready("api")
        self.failures: list[str] = []
        self.requests = 0
        self.served_by: set[str] = set()
        self.changes: list[str] = []
        """Names that a folder was given, in order."""
        self.events: list[str] = []
        """The same names, as the event stream told them."""
        self.streams = 0
        """How often the event stream was opened."""
        self.uploaded = 0
        self.resumed = 0
        self.digest_sent = self.digest_stored = ""

    def __enter__(self) -> "Load":
        with self._release.client() as client:
            for name in ("renamed", "uploaded"):
                client.post("/vfolders", json={"name": name}).raise_for_status()
            self._folder = client.get("/vfolders/renamed").json()["id"]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        for thread in self._threads:
            thread.join(120)
            assert not thread.is_alive(), thread

    def _caught(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as error:
            self.failures.append(f"{work.__name__}: {type(error).__name__}: {error}")

    def _balance(self) -> None:
        """Learn as a load balancer does, a moment later, which pods are ready."""
        while not self._ends.is_set():
            self._addresses = self._release.ready("api") or self._addresses
            self._ends.wait(0.5)

    def _client(self) -> httpx2.Client:
        address = secrets.choice(self._addresses)
        self.served_by.add(address)
        return self._release.client(address)

    def _request(self) -> None:
        """Short requests over new connections; every one must be answered."""
        while not self._ends.is_set():
            with self._client() as client:
                answer = client.get("/sessions")
            if answer.status_code != 200:
                self.failures.append(f"GET /sessions: {answer.status_code} {answer.text[:200]}")
            self.requests += 1

    def _change(self) -> None:
        self._follows.wait()
        while not self._ends.is_set():
            name = f"renamed-{len(self.changes)}"
            with self._client() as client:
                answer = client.patch(f"/vfolders/{self._folder}", json={"name": name})
            if answer.status_code != 200:
                self.failures.append(f"PATCH: {answer.status_code} {answer.text[:200]}")
            self.changes.append(name)
            self._ends.wait(0.2)
        self._changed_all.set()

    def _follow(self) -> None:
        """The event stream, opened again where it ended, as browsers do."""
        last = ""
        while not self._has_followed_all():
            headers = {"Last-Event-ID": last} if last else {}
            self.streams += 1
            try:
                with (
                    self._client() as client,
                    client.stream("GET", "/events", params={"follow": "true"}, headers=headers) as stream,
                ):
                    self._follows.set()
                    for line in stream.iter_lines():
                        if line.startswith("id:"):
                            last = line.removeprefix("id:").strip()
                        elif line.startswith("data:"):
                            self._note(json.loads(line.removeprefix("data:")))
                        if self._has_followed_all():
                            return
            except httpx2.TransportError:
                continue

    def _has_followed_all(self) -> bool:
        return self._changed_all.is_set() and self.events[-1:] == self.changes[-1:]

    def _note(self, event: dict) -> None:  # type: ignore[type-arg]
        name = str((event.get("data") or {}).get("name", ""))
        # A folder also changes when its size is measured.
        if name.startswith("renamed-") and self.events[-1:] != [name]:
            self.events.append(name)

    def _upload(self) -> None:
        """By tus, in parts; a part whose answer was lost is continued at the offset that the server names."""
        content = secrets.token_bytes(_PART * _PARTS)
        self.digest_sent = hashlib.sha256(content).hexdigest()
        path = base64.b64encode(b"large.bin").decode()
        tus = {"Tus-Resumable": "1.0.0"}
        with self._client() as client:
            made = client.post(
                "/vfolders/uploaded/uploads",
                headers={**tus, "Upload-Length": str(len(content)), "Upload-Metadata": f"path {path}"},
            ).raise_for_status()
        upload = f"/vfolders/uploaded/uploads/{made.headers['Location'].rsplit('/', 1)[1]}"
        while self.uploaded < len(content):
            # All that is left once the upgrade is over.
            end = len(content) if self._ends.is_set() else self.uploaded + _PART
            headers = {
                **tus,
                "Upload-Offset": str(self.uploaded),
                "Content-Type": "application/offset+octet-stream",
            }
            try:
                with self._client() as client:
                    answer = client.patch(upload, headers=headers, content=content[self.uploaded : end])
                answer.raise_for_status()
                self.uploaded = int(answer.headers["Upload-Offset"])
            except httpx2.TransportError:
                self.resumed += 1
                with self._client() as client:
                    shown = client.head(upload, headers=tus).raise_for_status()
                self.uploaded = int(shown.headers["Upload-Offset"])
            self._ends.wait(0.1)
        with self._client() as client:
            stored = client.get("/vfolders/uploaded/content", params={"path": "large.bin"}).raise_for_status()
        self.digest_stored = hashlib.sha256(stored.content).hexdigest()
