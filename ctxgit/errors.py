"""Everything that can go wrong in a way a user can act on.

CtxError
├── UsageError            the command line asks for something that makes no sense
├── NotInProjectError     no store where the command was given
├── NotFoundError         no such session, task, chunk, commit
├── ConfigError           a configuration file or key is wrong
├── SettingsError         a settings file of the client cannot be edited safely
├── PayloadError          a hook's payload cannot be read as an event
└── StoreError            the hidden repository refuses
    ├── StoreVersionError made by a newer ctxgit
    ├── StoreLockedError  another process holds the lock for too long
    └── GitError          a git command failed

Messages are one sentence, lower case, naming the path or id. ``hint`` says what to do next.
"""

from __future__ import annotations

from typing import ClassVar


class CtxError(Exception):
    """An expected failure: shown as ``error: …`` and ``hint: …``, exit code 1."""

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(CtxError):
    """The command line asks for something that makes no sense; exit code 2."""

    code = "usage"
    exit_code = 2


class NotInProjectError(CtxError):
    """There is no store for the place where the command was given."""

    code = "no_store"


class NotFoundError(CtxError):
    """No session, task, chunk or commit has the given name."""

    code = "not_found"


class ConfigError(CtxError):
    """A configuration file cannot be read, or a key or value in it is wrong."""

    code = "config"


class SettingsError(CtxError):
    """A settings file of the client cannot be edited without harm."""

    code = "settings"


class PayloadError(CtxError):
    """A hook's payload cannot be read as an event."""

    code = "payload"


class StoreError(CtxError):
    """The hidden repository cannot be read or written."""

    code = "store"


class StoreVersionError(StoreError):
    """The store was made by a newer version of ctxgit."""

    code = "store_version"


class StoreLockedError(StoreError):
    """Another process has held a lock of the store for too long."""

    code = "store_locked"


class GitError(StoreError):
    """A git command failed, or git is not there."""

    code = "git"
