"""Fetches a repository of a Hugging Face hub, with the standard library alone. It runs in the session."""

import json
import os
import re
import shutil
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.client import HTTPResponse
from typing import NoReturn
from urllib.parse import quote, urljoin, urlsplit

TRIES = 4


def refused(error: urllib.error.HTTPError) -> NoReturn:
    if error.code in (401, 403):
        sys.exit(
            "The hub refuses access: the repository is private or gated, and needs a token that has access."
        )
    if error.code == 404:
        sys.exit("The hub has no such repository or revision, or it is private.")
    sys.exit(f"The hub answers {error.code} {error.reason}.")


class Repository:
    def __init__(self, endpoint: str, kind: str, name: str, ref: str, path: str, target: str) -> None:
        self.endpoint = endpoint
        section = "" if kind == "model" else kind + "s/"
        self.listing = f"{endpoint}/api/{kind}s/{quote(name)}/tree/{quote(ref, safe='')}?recursive=true"
        self.files = f"{endpoint}/{section}{quote(name)}/resolve/{quote(ref, safe='')}/"
        self.path = path
        self.target = target
        self.token = os.environ.get("TOKEN", "")

    def fetch_all(self) -> None:
        files = list(self.listed())
        if not files:
            sys.exit("The repository has no file there.")
        total, free = sum(size for _, size in files), shutil.disk_usage(self.target).free
        say(f"{len(files)} files, {total / 1e6:.1f} MB")
        if total > free:
            sys.exit(f"They do not fit: {free / 1e6:.1f} MB are free.")
        for number, (path, size) in enumerate(files, 1):
            say(f"{number} of {len(files)}: {path!a}, {size / 1e6:.1f} MB")
            self.fetch(path, size)

    def listed(self) -> Iterator[tuple[str, int]]:
        """Path and size of each file."""
        url = self.listing
        while url:
            try:
                with self.ask(url) as answer:
                    entries, link = json.load(answer), answer.headers.get("Link", "")
            except urllib.error.HTTPError as error:
                refused(error)
            except (OSError, ValueError) as error:
                sys.exit(f"The hub cannot be reached: {error}")
            for entry in entries:
                path, below = entry["path"], self.path
                if entry["type"] == "file" and (not below or path == below or path.startswith(below + "/")):
                    yield path, int(entry.get("size") or 0)
            following = re.search(r'<([^>]+)>;\s*rel="next"', link)
            url = urljoin(url, following.group(1)) if following else ""

    def fetch(self, path: str, size: int) -> None:
        target = os.path.normpath(os.path.join(self.target, path))
        if not target.startswith(self.target + os.sep):
            sys.exit(f"The hub lists a file outside of the repository: {path!a}")
        os.makedirs(os.path.dirname(target), exist_ok=True)
        for number in range(1, TRIES + 1):
            try:
                with self.ask(self.files + quote(path)) as answer, open(target, "wb") as file:
                    shutil.copyfileobj(answer, file, 1 << 20)
                arrived = os.path.getsize(target)
                if size and arrived != size:
                    raise OSError(f"{arrived} of {size} bytes arrived")
                return
            except urllib.error.HTTPError as error:
                if (error.code < 500 and error.code != 429) or number == TRIES:
                    refused(error)
            except OSError as error:
                if number == TRIES:
                    sys.exit(f"{path!a} cannot be fetched: {error}")
            time.sleep(2**number)

    def ask(self, url: str) -> HTTPResponse:
        request = urllib.request.Request(url, headers={"User-Agent": "carrel"})
        if self.token and urlsplit(url).netloc == urlsplit(self.endpoint).netloc:
            # Not sent on to where a file is stored, which is another host.
            request.add_unredirected_header("Authorization", "Bearer " + self.token)
        answer: HTTPResponse = urllib.request.urlopen(request, timeout=60)
        return answer


def say(line: str) -> None:
    sys.stdout.write(line + "\n")


if __name__ == "__main__":
    Repository(*sys.argv[1:]).fetch_all()
