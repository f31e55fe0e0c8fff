"""The server's git for builds, without a server of the API."""

from dataclasses import replace

import pytest

from carrel.builds import git_fetch
from carrel.builds.git_fetch import GitSecret
from carrel.core.errors import Invalid
from carrel.imports import sources


async def test_a_host_that_is_no_name_is_refused() -> None:
    source = sources.read("https://host.org/a/b.git")
    for host in ("a..b", "a" * 64):
        with pytest.raises(Invalid) as refused:
            await git_fetch.fetch(replace(source, url=f"https://{host}/a/b.git"), GitSecret(), private=False)
        assert refused.value.code == "build.git_failed"
