"""The verbs that keep, bring back and take back states; wired as those in app.py."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer  # noqa: TID253 - as in app.py, which imports this

from ctxgit.cli.options import JsonOption, SessionOption, StoreOption
from ctxgit.cli.output import print_json
from ctxgit.cli.verbs import place
from ctxgit.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

StateArgument = Annotated[
    str, typer.Argument(metavar="NAME", help="A save, NAME@2, @cleared, @last, a session.")
]


def add_to(app: typer.Typer) -> None:
    """Add the verbs to ``app``."""
    verbs: tuple[tuple[str, Callable[..., None]], ...] = (
        ("save", save),
        ("list", list_saves),
        ("load", load),
        ("handoff", handoff),
        ("clear", clear),
        ("restore", restore),
        ("fork", fork),
        ("undo", undo),
        ("redo", redo),
    )
    for name, verb in verbs:
        app.command(name)(verb)


def save(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="A few words; those of the first prompt without."),
    ] = None,
    *,
    message: Annotated[str, typer.Option("--message", "-m", help="What to say of it.")] = "",
    store: StoreOption = None,
    session: SessionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Save where the session stands, under a name.

    A save is a commit on save/NAME: handoff, tasks and knowledge, without what tools
    returned. Saving under the name again adds a commit.
    """
    from ctxgit.actions.save import save as run  # noqa: PLC0415 - as every verb: what it needs

    result = run(place(store, session), name, message=message)
    if as_json:
        print_json("save", result)
        return
    from ctxgit.cli import states  # noqa: PLC0415

    states.saved(result)


def list_saves(
    *,
    everything: Annotated[
        bool, typer.Option("--all", help="Cleared states and sessions too.")
    ] = False,
    limit: Annotated[int, typer.Option("-n", "--limit", min=1, help="At most this many.")] = 50,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """List what was saved, newest first."""
    from ctxgit.actions.listing import list_saves as run  # noqa: PLC0415

    result = run(place(store), everything=everything, limit=limit)
    if as_json:
        print_json("list", result)
        return
    from ctxgit.cli import pager, states  # noqa: PLC0415

    with pager.paged():
        states.listed(result)


def load(
    name: StateArgument,
    *,
    into: Annotated[
        str | None,
        typer.Option("--into", metavar="SESSION", help="Make it this session's state as well."),
    ] = None,
    part: Annotated[
        int | None, typer.Option("--part", min=1, help="Print this part only; long ones have more.")
    ] = None,
    store: StoreOption = None,
    session: SessionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print what carries on from a saved, cleared or other session's state.

    Says what could be brought back and what not, and which files changed since. Nothing is
    lost by loading: with --into, the session's own state is kept first.
    """
    from ctxgit.actions.load import load as run  # noqa: PLC0415

    result = run(place(store, session), name, into=into, part=part)
    if as_json:
        print_json("load", result)
        return
    typer.echo(result.text)


def handoff(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Save it under this name as well.")
    ] = None,
    *,
    copy: Annotated[
        Path | None, typer.Option("--copy", metavar="DIR", help="Write it into this folder too.")
    ] = None,
    store: StoreOption = None,
    session: SessionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print the document that lets another session carry on."""
    from ctxgit.actions.save import make_handoff  # noqa: PLC0415

    result = make_handoff(place(store, session), name, copy=copy)
    if as_json:
        print_json("handoff", result)
        return
    typer.echo(result.text)


def clear(
    *,
    smart: Annotated[
        bool, typer.Option("--smart", help="Keep the knowledge; the only way there is.")
    ] = False,
    store: StoreOption = None,
    session: SessionOption = None,
    as_json: JsonOption = False,
) -> None:
    """End the session's tasks and tool results, and keep the knowledge.

    What was is kept on cleared/…: `ctx load @cleared` brings it back.
    """
    from ctxgit.actions.clear import clear as run  # noqa: PLC0415

    if not smart:
        raise UsageError("clear needs --smart", hint="/clear in the client is the plain one")
    result = run(place(store, session))
    if as_json:
        print_json("clear", result)
        return
    from ctxgit.cli import states  # noqa: PLC0415

    states.cleared(result)


def restore(
    names: Annotated[
        list[str], typer.Argument(metavar="ID…", help="Chunks, tasks, or a state's name.")
    ],
    *,
    store: StoreOption = None,
    session: SessionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Bring tool results back into the session's working set."""
    from ctxgit.actions.restore import restore as run  # noqa: PLC0415

    result = run(place(store, session), names)
    if as_json:
        print_json("restore", result)
        return
    from ctxgit.cli import states  # noqa: PLC0415

    states.restored(result)


def fork(
    name: StateArgument,
    *,
    store: StoreOption = None,
    session: SessionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Start the session's state from a save or another session."""
    from ctxgit.actions.restore import fork as run  # noqa: PLC0415

    result = run(place(store, session), name)
    if as_json:
        print_json("fork", result)
        return
    from ctxgit.cli import states  # noqa: PLC0415

    states.forked(result)


def undo(
    count: Annotated[int, typer.Argument(metavar="[N]", min=1, help="How many verbs.")] = 1,
    *,
    store: StoreOption = None,
    session: SessionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take back what the last verbs did; refused where the session has moved on since."""
    from ctxgit.actions.undo import undo as run  # noqa: PLC0415

    result = run(place(store, session), count)
    if as_json:
        print_json("undo", result)
        return
    from ctxgit.cli import states  # noqa: PLC0415

    states.reverted(result, "Took back")


def redo(
    *, store: StoreOption = None, session: SessionOption = None, as_json: JsonOption = False
) -> None:
    """Do again what was taken back last."""
    from ctxgit.actions.undo import redo as run  # noqa: PLC0415

    result = run(place(store, session))
    if as_json:
        print_json("redo", result)
        return
    from ctxgit.cli import states  # noqa: PLC0415

    states.reverted(result, "Did again")
