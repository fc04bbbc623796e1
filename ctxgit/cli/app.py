"""The verbs, wired: each parses, calls one action, and has its result printed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, cast

import typer  # noqa: TID253 - the app is made of it; cli/entry.py imports this lazily

from ctxgit.cli import state_verbs
from ctxgit.cli.options import JsonOption, SessionOption, StoreOption
from ctxgit.cli.output import print_json
from ctxgit.cli.verbs import here, place, print_sync
from ctxgit.errors import UsageError

if TYPE_CHECKING:
    from ctxgit.actions.place import Place
    from ctxgit.actions.task import TaskResult
    from ctxgit.model import TaskStatus

PLAIN: dict[str, object] = {
    "no_args_is_help": True,
    "rich_markup_mode": None,  # rich would cost every verb half its start
    "pretty_exceptions_enable": False,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}
# typer does not export the class of all that is wrong with a command line.
WrongUse = cast("type[Exception]", typer.BadParameter.__base__)
app = typer.Typer(name="ctx", **PLAIN)  # type: ignore[arg-type] # options shared by two apps
task_app = typer.Typer(help="Say what work is for.", **PLAIN)  # type: ignore[arg-type] # same
app.add_typer(task_app, name="task")
state_verbs.add_to(app)


def _print_version(wanted: bool) -> None:  # noqa: FBT001 - typer calls it so
    if wanted:
        from ctxgit import __version__  # noqa: PLC0415 - as every verb: only what it needs

        typer.echo(f"ctx {__version__}")
        raise typer.Exit


def _forbid_pager(wanted: bool) -> None:  # noqa: FBT001 - as above
    if wanted:
        from ctxgit.cli import pager  # noqa: PLC0415 - as above

        pager.forbid()


@app.callback()
def root(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
    no_pager: Annotated[
        bool,
        typer.Option("--no-pager", callback=_forbid_pager, help="Never start a pager."),
    ] = False,
) -> None:
    """Keep the context of coding agents in a hidden git repository of the project.

    Every tool result is kept with the task it was made for; every turn, every finished
    task is a commit to list, show and bring back.
    """


@app.command()
def init(
    *,
    enable: Annotated[
        bool, typer.Option("--enable", help="Let Claude Code load the plugin in this project.")
    ] = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a context store for this project.

    It lies in .context-store/ at the root of the main work tree, hidden from the project's
    git through info/exclude. Doing it again changes nothing.
    """
    from ctxgit.actions.init import init as run  # noqa: PLC0415

    result = run(here(), store=store, enable=enable)
    if as_json:
        print_json("init", result)
        return
    from ctxgit.cli import render  # noqa: PLC0415

    render.init(result)


@app.command()
def status(
    *, store: StoreOption = None, session: SessionOption = None, as_json: JsonOption = False
) -> None:
    """Show where a session stands: its turn, its tasks, its tool results.

    Without --session: the session this runs in, else the last one of this work tree.
    """
    from ctxgit.actions.status import status as run  # noqa: PLC0415

    result = run(place(store, session))
    if as_json:
        print_json("status", result)
        return
    from ctxgit.cli import render  # noqa: PLC0415

    render.status(result)


@app.command()
def sync(
    *, store: StoreOption = None, session: SessionOption = None, as_json: JsonOption = False
) -> None:
    """Commit the events that hooks have left. They do it by themselves; this is by hand."""
    from ctxgit.actions.sync import sync as run  # noqa: PLC0415

    print_sync(run(place(store, catch_up=False).store, session=session), as_json=as_json)


@app.command()
def log(  # noqa: PLR0913 - its options
    *,
    limit: Annotated[int, typer.Option("-n", "--limit", min=1, help="At most this many.")] = 50,
    task: Annotated[
        str | None,
        typer.Option("--task", metavar="ID", help="About this task: its number or label."),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="DATE", help="After a date in git's words, as 2.days.ago."),
    ] = None,
    path: Annotated[
        str | None,
        typer.Option("--path", help="With results that read or wrote this file or folder."),
    ] = None,
    grep: Annotated[
        str | None,
        typer.Option("--grep", metavar="TEXT", help="With this text in the message, in any case."),
    ] = None,
    oneline: Annotated[bool, typer.Option("--oneline", help="Print a line for each.")] = False,
    store: StoreOption = None,
    session: SessionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what happened, newest first: each turn, each finished task is a commit.

    With several conditions, only what meets all of them.
    """
    from ctxgit.actions.log import log as run  # noqa: PLC0415

    found = place(store, session)
    result = run(found, limit=limit, task=task, since=since, path=path, grep=grep)
    if as_json:
        print_json("log", result)
        return
    from ctxgit.cli import pager, render  # noqa: PLC0415

    with pager.paged():
        render.log(result, oneline=oneline, chosen=bool(task or since or path or grep))


@app.command()
def show(
    name: Annotated[
        str, typer.Argument(metavar="ID", help="A chunk, task, save, state, entry, commit, tag.")
    ],
    *,
    raw: Annotated[bool, typer.Option("--raw", help="Print the content alone.")] = False,
    store: StoreOption = None,
    session: SessionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a tool result, task, save, cleared state, knowledge entry or commit, whole.

    The beginning of a chunk's id will do where only one begins so; a tool_use_id works too.
    """
    from ctxgit.actions.show import show as run  # noqa: PLC0415

    result = run(place(store, session), name)
    if as_json:
        print_json("show", result)
        return
    from ctxgit.cli import pager, shown  # noqa: PLC0415

    with pager.paged():
        shown.show(result, raw=raw)


@app.command()
def diff(  # noqa: PLR0913 - its options
    before: Annotated[str, typer.Argument(metavar="A", help="A state: see below.")],
    after: Annotated[
        str | None, typer.Argument(metavar="[B]", help="Another; the session as it is without.")
    ] = None,
    *,
    stat: Annotated[bool, typer.Option("--stat", help="Print how much, not what.")] = False,
    patch: Annotated[bool, typer.Option("--patch", help="Print git's patch instead.")] = False,
    store: StoreOption = None,
    session: SessionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what differs: knowledge, tasks, tool results, and the handoff by section.

    A state is a save (NAME, or NAME@2 for two saves before), a session, a cleared state, a
    task that is done, a moment of the session (@{3}, @{1.hour.ago}), or a commit.
    """
    from ctxgit.actions import diff as action  # noqa: PLC0415

    if stat and patch:
        raise UsageError("--stat and --patch exclude each other", hint="give one of them")
    found = place(store, session)
    if patch:
        text = action.patch(found, before, after)
    else:
        result = action.diff(found, before, after)
    if as_json:
        print_json("diff", text if patch else result)
        return
    from ctxgit.cli import differences, pager  # noqa: PLC0415

    with pager.paged():
        if patch:
            differences.patch(text)
        else:
            (differences.stat if stat else differences.diff)(result)


@app.command("config")
def configure(
    key: Annotated[str | None, typer.Argument(help="The setting; all without.")] = None,
    value: Annotated[str | None, typer.Argument(help="What to set it to.")] = None,
    *,
    layer: Annotated[
        str | None,
        typer.Option("--in", metavar="LAYER", help="machine, user or shared (committed)."),
    ] = None,
    unset: Annotated[bool, typer.Option("--unset", help="Go back to the default.")] = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show settings, or change one.

    The nearer layer wins: this machine's, the user's, the one shared with the store.
    """
    from ctxgit.actions import configure as action  # noqa: PLC0415

    found = place(store, catch_up=False)
    if key is not None and (value is not None or unset):
        result = action.write(found, key, None if unset else value, action.layer_named(layer))
    else:
        result = action.read(found, key)
    if as_json:
        print_json("config", result)
        return
    from ctxgit.cli import render  # noqa: PLC0415

    render.config(result)


@task_app.command("start")
def task_start(
    subject: Annotated[str, typer.Argument(help="What is to be done, in a few words.")],
    *,
    after: Annotated[
        list[str] | None, typer.Option("--after", metavar="ID", help="A task it waits for.")
    ] = None,
    store: StoreOption = None,
    session: SessionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Declare a task and begin it: what tools return from now on is kept for it."""
    from ctxgit.actions import task  # noqa: PLC0415

    result = task.start(place(store, session), subject, after=tuple(after or ()))
    _print_task("task start", "Started", result, as_json=as_json)


TaskArgument = Annotated[str, typer.Argument(metavar="ID", help="A number, label or subject.")]
OptionalTaskArgument = Annotated[
    str | None,
    typer.Argument(metavar="[ID]", help="A number, label or subject; the active task without."),
]


@task_app.command("use")
def task_use(
    name: TaskArgument,
    *,
    store: StoreOption = None,
    session: SessionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Go on with a task that was declared before, also one that had ended."""
    from ctxgit.model import TaskStatus  # noqa: PLC0415

    _set_status("use", name, TaskStatus.ACTIVE, place(store, session), as_json=as_json)


@task_app.command("done")
def task_done(
    name: OptionalTaskArgument = None,
    *,
    store: StoreOption = None,
    session: SessionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Finish a task: the state is committed and tagged."""
    from ctxgit.model import TaskStatus  # noqa: PLC0415

    _set_status("done", name, TaskStatus.DONE, place(store, session), as_json=as_json)


@task_app.command("abandon")
def task_abandon(
    name: OptionalTaskArgument = None,
    *,
    store: StoreOption = None,
    session: SessionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Give a task up. `ctx task use` takes it back."""
    from ctxgit.model import TaskStatus  # noqa: PLC0415

    _set_status("abandon", name, TaskStatus.ABANDONED, place(store, session), as_json=as_json)


@task_app.command("list")
def task_list(
    *, store: StoreOption = None, session: SessionOption = None, as_json: JsonOption = False
) -> None:
    """List the session's tasks."""
    from ctxgit.actions import task  # noqa: PLC0415

    result = task.list_tasks(place(store, session))
    if as_json:
        print_json("task list", result)
        return
    from ctxgit.cli import render  # noqa: PLC0415

    render.tasks(result.tasks)


@task_app.command("show")
def task_show(
    name: TaskArgument,
    *,
    store: StoreOption = None,
    session: SessionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a task and the tool results that were made for it."""
    from ctxgit.actions import task  # noqa: PLC0415

    result = task.show(place(store, session), name)
    if as_json:
        print_json("task show", result)
        return
    from ctxgit.cli import render  # noqa: PLC0415

    render.task(result)


def _set_status(
    verb: str, name: str | None, status: TaskStatus, here: Place, *, as_json: bool
) -> None:
    from ctxgit.actions import task  # noqa: PLC0415

    said = {"use": "Going on with", "done": "Finished", "abandon": "Gave up"}[verb]
    _print_task(f"task {verb}", said, task.set_status(here, name, status), as_json=as_json)


def _print_task(command: str, said: str, result: TaskResult, *, as_json: bool) -> None:
    if as_json:
        print_json(command, result)
        return
    tag = f", tag {result.tag}" if result.tag else ""
    typer.echo(f"{said} task {result.task.number}: {result.task.subject}{tag}")
