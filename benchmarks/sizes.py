"""What stores take on disk, in bytes of their files.

What a chunk adds is counted in the whole store. A large store is counted without
``.git/ctx``: what lies there can be deleted at any time and is made again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import corpus
from corpus import Page
from recording import Client, Payload, Writer, fill, spool, tidy
from stores import Place

from ctxgit.actions.sync import sync
from ctxgit.paths import StorePaths
from ctxgit.store import maintenance

SYNCS = 16
"""As many as fill a folder of the store's layout, so that each kind of commit occurs."""
KILOBYTE = 1024
REREAD_SHARE = 0.7


def in_fresh_session(place: Place) -> float:
    """Return the KB that a chunk adds in a session that has just begun."""
    project, store = place.project("size-fresh")
    client = Client(project, 0)
    _sync(store, [client.start(), client.prompt(0)])
    return _added(store, client)


def in_long_turn(place: Place) -> float:
    """Return the KB that a chunk adds to a turn of 5,000."""
    chunks = 500 if place.quick else 5_000

    def make(project: Path, store: StorePaths) -> None:
        client = Client(project, 0)
        results = (client.result(0, str(each), corpus.page(each)) for each in range(chunks))
        Writer.at(store, client).add([client.start(), client.prompt(0), *results])

    project, store = place.kept("size-long-turn", make)
    return _added(store, Client(project, 0))


def after_many_syncs(place: Place) -> float:
    """Return the KB that a chunk adds after 2,000 syncs of one."""
    syncs = 200 if place.quick else 2_000

    def make(project: Path, store: StorePaths) -> None:
        client = Client(project, 0)
        _sync(store, [client.start(), client.prompt(0)])
        for number in range(syncs):
            _sync(store, [client.result(0, str(number), corpus.page(number))])

    project, store = place.kept("size-many-syncs", make)
    return _added(store, Client(project, 0))


def of_rereads(place: Place) -> float:
    """Return the size of 30,000 chunks, 70 % of them re-reads, as a share of their bytes."""
    sessions, turns, results = 3 if place.quick else 30, 50, 20

    def page(number: int) -> Page:
        return corpus.page(corpus.reread(number, REREAD_SHARE))

    def make(project: Path, store: StorePaths) -> None:
        fill(store, project, page, sessions=sessions, turns=turns, results=results)

    _, store = place.kept("size-rereads", make)
    size = size_of(store.root) - size_of(store.runtime)
    return size / (sessions * turns * results * corpus.PAGE_BYTES)


def size_of(folder: Path) -> int:
    """Return the bytes in all files of a folder."""
    files = (Path(level, name) for level, _, names in os.walk(folder) for name in names)
    return sum(path.lstat().st_size for path in files)


def _added(store: StorePaths, client: Client) -> float:
    """Return the KB that a sync of one chunk adds, the mean of some between maintenances."""
    state = Writer.at(store, client).branch.state
    first = state.session.chunks if state else 0
    maintenance.run(store)
    before = size_of(store.root)
    for number in range(first, first + SYNCS):
        _sync(store, [client.result(0, str(number), corpus.page(number))])
    return (size_of(store.root) - before) / SYNCS / KILOBYTE


def _sync(store: StorePaths, payloads: Iterable[Payload]) -> None:
    spool(store, payloads)
    sync(store)
    tidy(store)
