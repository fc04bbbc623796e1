"""Rules about the working set as a whole: ended, replaced, brought back by hand."""

from __future__ import annotations

from ctxgit.fold import turns
from ctxgit.model import Adopted, Chunk, Cleared, Restored, Returned, State, Task
from ctxgit.records import replace


def cleared(state: State, _: Cleared) -> State:
    """End all tasks and chunks; the counts go on, so that no number comes twice."""
    return replace(state, session=replace(state.session, cleared=True), tasks={}, chunks={})


def adopted(state: State, event: Adopted) -> State:
    """Put the given tasks in the place of the working set."""
    tasks = {task.number: task for task in event.tasks}
    return replace(_counting(state, event.tasks), tasks=tasks, chunks={})


def restored(state: State, event: Restored) -> State:
    """Bring chunks back, and the tasks they were made for where these had gone too.

    What has no place of its own here, being of another session or of a task whose number
    another has now, is counted as a new result of the current turn.
    """
    back = _Restoring(turns.with_turn(state, event))
    for returned in event.chunks:
        if returned.chunk.id not in back.chunks:
            back.put(returned)
    return back.restored()


def _counting(state: State, tasks: tuple[Task, ...]) -> State:
    """Return ``state`` with the session's counts at least as high as in ``tasks``."""
    session = state.session
    number = max((session.tasks, *(task.number for task in tasks)))
    activations = max((session.activations, *(task.activation for task in tasks)))
    session = replace(session, tasks=number, activations=activations, cleared=False)
    return replace(state, session=session)


class _Restoring:
    """A state into which chunks are being put: thousands, so in dictionaries of its own."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.chunks = dict(state.chunks)
        self._tasks = dict(state.tasks)
        self._turn = state.turns[state.current_turn]
        self._count = state.session.chunks
        self._taken = {chunk.number for chunk in state.chunks.values()}

    def put(self, returned: Returned) -> None:
        is_own = returned.session == self.state.session.id
        chunk = self._numbered(returned.chunk, is_own=is_own)
        is_of_turn = is_own and chunk.turn in self.state.turns
        keeps_scope = self._is_here(returned.task, is_own=is_own) if chunk.task else is_of_turn
        if not keeps_scope:
            chunk = self._in_turn(chunk)
        elif not is_of_turn:
            chunk = replace(chunk, turn=self._turn.number)
        self._taken.add(chunk.number)
        self.chunks[chunk.id] = chunk

    def _numbered(self, chunk: Chunk, *, is_own: bool) -> Chunk:
        """Return the chunk with its own number, a new one where that is not free here."""
        is_known = is_own and chunk.number <= self.state.session.chunks
        if is_known and chunk.number not in self._taken:
            return chunk
        self._count += 1
        return replace(chunk, number=self._count)

    def _is_here(self, task: Task | None, *, is_own: bool) -> bool:
        """Whether the task is in this state; one of this session comes back into it."""
        if task is None:
            return False
        if is_own:
            self._tasks.setdefault(task.number, task)
        there = self._tasks.get(task.number)
        return there is not None and (there.name, there.created_at) == (task.name, task.created_at)

    def _in_turn(self, chunk: Chunk) -> Chunk:
        turn = self._turn
        self._turn = replace(turn, chunks=turn.chunks + 1, tokens=turn.tokens + chunk.tokens)
        return replace(chunk, task=0, turn=turn.number, place=turn.chunks)

    def restored(self) -> State:
        state = _counting(self.state, tuple(self._tasks.values()))
        for number, task in self._tasks.items():
            if not set(task.blocked_by) <= self._tasks.keys():
                blocked_by = tuple(other for other in task.blocked_by if other in self._tasks)
                self._tasks[number] = replace(task, blocked_by=blocked_by)
        if self._turn is not state.turns[self._turn.number]:
            state = turns.put(state, self._turn)
        in_order = sorted(self.chunks.values(), key=lambda chunk: chunk.number)
        return replace(
            state,
            session=replace(state.session, chunks=self._count),
            tasks=dict(sorted(self._tasks.items())),
            chunks={chunk.id: chunk for chunk in in_order},
        )
