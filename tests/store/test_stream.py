from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from ctxgit.errors import GitError
from ctxgit.store.stream import FAST_IMPORT, Commit, stream
from support.events import START
from support.recording import content, paths

if TYPE_CHECKING:
    from pathlib import Path

    from ctxgit.store.git import Git

REF = "refs/heads/session/x"


def commit(
    message: str = "Say",
    *,
    at: datetime = START,
    trees: dict[str, str] | None = None,
    tags: tuple[str, ...] = (),
    **files: bytes | None,
) -> Commit:
    return Commit(at=at, message=message, files=files, trees=trees or {}, tags=tags)


def given(repo: Git, *commits: Commit, parent: str | None = None, ref: str = REF) -> str:
    """Give the commits to git; return the last one's id."""
    return repo.run(*FAST_IMPORT, stdin=stream(ref, parent, commits)).decode().split()[-1]


def log(repo: Git, template: str, name: str = REF) -> list[str]:
    return repo.run("log", f"--format={template}", name).decode().splitlines()


def test_git_answers_with_the_last_commit_and_the_ref_is_there(repo: Git) -> None:
    tip = given(repo, commit("One\n", a=b"1"), commit("Two\n", b=b"2"))
    assert repo.refs(REF) == {REF: tip}
    assert log(repo, "%s") == ["Two", "One"]
    assert (content(repo, f"{tip}:a"), content(repo, f"{tip}:b")) == ("1", "2")


def test_identity_and_time_are_ours_and_of_the_event(repo: Git) -> None:
    given(repo, commit(at=datetime(2026, 1, 2, 3, 4, 5, 999_999, tzinfo=UTC), a=b""))
    ours = "ctxgit <ctx@ctxgit.invalid> 2026-01-02T03:04:05+00:00"
    assert log(repo, "%an <%ae> %aI|%cn <%ce> %cI") == [f"{ours}|{ours}"]


def test_commits_go_on_from_the_parent(repo: Git) -> None:
    first = given(repo, commit("One", a=b"1", b=b"1"))
    second = given(repo, commit("Two", a=None, b=b"2"), parent=first)
    assert paths(repo, second) == ["b"]
    assert log(repo, "%P", second) == [first, ""]


def test_a_folder_may_take_the_place_of_a_file(repo: Git) -> None:
    first = given(repo, commit("One", a=b"1"))
    files = {"a/b.md": b"2", "a": None}
    second = given(repo, Commit(at=START, message="x", files=files, trees={}), parent=first)
    assert paths(repo, second) == ["a/b.md"]


def test_files_of_a_kind_stand_side_by_side() -> None:
    files = {"1.toml": b"", "1.md": b"", "2.toml": b"", "2.md": b""}
    text = b"".join(stream(REF, None, [Commit(at=START, message="x", files=files, trees={})]))
    order = [line.split()[-1] for line in text.decode().splitlines() if line.startswith("M ")]
    assert order == ["1.md", "2.md", "1.toml", "2.toml"]


def test_any_bytes_are_content(repo: Git) -> None:
    data = bytes(range(256)) + b"\ndone\n\ncommit refs/heads/main\ndata 3\nabc"
    tip = given(repo, commit("One", a=data, b=b""))
    assert repo.run("cat-file", "blob", f"{tip}:a") == data
    assert repo.run("cat-file", "blob", f"{tip}:b") == b""


@pytest.mark.parametrize("path", ["a b", " a", "tasks/01-日本/x", "a\\b", "a'b\"c", "-a", "ä"])
def test_odd_paths_arrive_as_they_are(repo: Git, path: str) -> None:
    tip = given(repo, Commit(at=START, message="x", files={path: b"1"}, trees={}))
    assert paths(repo, tip) == [path]


@pytest.mark.parametrize("path", ["", "a\nD b", "a\0", '"quoted"'])
def test_a_path_that_would_be_read_as_something_else_is_refused(repo: Git, path: str) -> None:
    with pytest.raises(ValueError, match="cannot stand in a fast-import stream"):
        given(repo, Commit(at=START, message="x", files={path: b"1"}, trees={}))
    assert repo.refs(REF) == {}


def test_a_message_may_hold_anything(repo: Git) -> None:
    message = "Say\n\nfrom :1\ndata 5\n\N{ROCKET}\n"
    given(repo, commit(message, a=b""))
    assert repo.run("log", "-1", "--format=%B", REF).decode().strip() == message.strip()


def test_a_tree_is_taken_as_it_is(repo: Git) -> None:
    first = given(repo, Commit(at=START, message="x", files={"d/e/f": b"1"}, trees={}))
    (tree,) = repo.objects([f"{first}:d"])
    assert tree is not None
    second = given(repo, commit("y", trees={"knowledge": tree.oid}, a=b""), parent=first)
    assert paths(repo, second) == ["a", "d/e/f", "knowledge/e/f"]


def test_git_answers_with_every_commit_so_that_tags_can_point_at_them(repo: Git) -> None:
    answer = repo.run(*FAST_IMPORT, stdin=stream(REF, None, [commit("One"), commit("Two")]))
    assert answer.decode().split() == list(reversed(log(repo, "%H")))


def test_all_is_one_pack_and_no_loose_object(repo: Git) -> None:
    before = {path.name for path in _objects(repo)}
    given(repo, commit(a=b"1"))
    added = {path.name for path in _objects(repo)} - before
    assert sorted(name.rsplit(".", 1)[1] for name in added) == ["idx", "pack"]


def _objects(repo: Git) -> list[Path]:
    return [path for path in (repo.git_dir / "objects").rglob("*") if path.is_file()]


def test_a_ref_that_someone_else_has_moved_is_left_alone(repo: Git) -> None:
    first = given(repo, commit("One", a=b"1"))
    theirs = given(repo, commit("Theirs", b=b"2"), parent=first)
    with pytest.raises(GitError, match="fast-import failed"):
        given(repo, commit("Ours", c=b"3"), parent=first)
    assert repo.refs(REF) == {REF: theirs}


def test_a_ref_that_someone_else_has_made_is_left_alone(repo: Git) -> None:
    theirs = given(repo, commit("Theirs", b=b"2"))
    with pytest.raises(GitError, match="fast-import failed"):
        given(repo, commit("Ours", c=b"3"))
    assert repo.refs(REF) == {REF: theirs}


def test_a_stream_that_breaks_off_changes_nothing(repo: Git) -> None:
    whole = b"".join(stream(REF, None, [commit(a=b"1")]))
    for cut in (len(whole) - 5, len(whole) // 2, 10):
        with pytest.raises(GitError, match="fast-import failed"):
            repo.run(*FAST_IMPORT, stdin=whole[:cut])
    assert repo.refs(REF) == {}


def test_a_reader_that_fails_is_heard_not_the_broken_pipe(repo: Git) -> None:
    def broken() -> object:
        yield from stream(REF, None, [commit(a=b"1" * 200_000)])
        raise ValueError("the source has dried up")

    with pytest.raises(ValueError, match="dried up"):
        repo.run(*FAST_IMPORT, stdin=broken())  # type: ignore[arg-type] # a generator
    assert repo.refs(REF) == {}
