"""The real client for the tests marked ``client``."""

from __future__ import annotations

import os
from contextlib import ExitStack
from typing import TYPE_CHECKING, Protocol

import pytest

from harness.client import Client
from harness.require import missing

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path


class StartClient(Protocol):
    """Starts a client (see ``Client``) that ends with the test."""

    def __call__(
        self,
        *,
        files: Mapping[str, str] | None = None,
        plugins: Sequence[Path] = (),
        task_tools: bool = False,
        env: Mapping[str, str] | None = None,
        git: bool = True,
    ) -> Client: ...


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what needs the client where there is none; in CI that is a failure."""
    reason = missing() if item.get_closest_marker("client") else ""
    if reason and os.environ.get("CI") == "true":
        pytest.fail(reason, pytrace=False)
    if reason:
        pytest.skip(reason)


@pytest.fixture
def start_client() -> Iterator[StartClient]:
    """Return a function that starts a client."""
    with ExitStack() as started:

        def start(
            *,
            files: Mapping[str, str] | None = None,
            plugins: Sequence[Path] = (),
            task_tools: bool = False,
            env: Mapping[str, str] | None = None,
            git: bool = True,
        ) -> Client:
            client = Client(files=files, plugins=plugins, task_tools=task_tools, env=env, git=git)
            return started.enter_context(client)

        yield start
