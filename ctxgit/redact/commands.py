"""Passwords where commands and their files take them without a name that says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxgit.redact.assignments import is_about_flag, is_plain
from ctxgit.redact.matching import Span, Text, compiled

if TYPE_CHECKING:
    import re

_ATTACHED = rb"mysql\w*|mariadb[\w-]*|7z\w*"
"""Programs that take a password by ``-p`` only without a space; alone, it asks for one."""
_SEPARATE = rb"sshpass|mongo\w*|login"
"""Those that take it either way; ``login`` is a verb of docker, podman, helm, az, oc, cf, …."""
_REACH = 400
SHORTEST_PASSWORD = 3

PASSWORD_FLAG = (
    rb"(?<=[\s\"'])-p(?P<gap>[ \t]{1,8}|=|\\{0,7}[\"'],\s{0,8}(?=\\{0,7}[\"']))?"
    rb"(?:(?P<quote>\\{0,7}[\"'])(?P<quoted>(?:(?!(?P=quote))[^\n]){1,400})(?P=quote)"
    rb"|(?P<bare>[^\s\"'`<>;|&()\\]++))"
)
_GAP = rb"(?:[\s+>|:-]|\\[nrt]|\d{1,6}(?=[:|\t-]|\xe2\x86\x92)|\xe2\x86\x92){1,40}+"
_FIELD = rb"[^\s\\\"']{1,200}+"
NETRC = (
    rb"machine" + _GAP + _FIELD + _GAP + rb"(?P<user>(?:(?:login|account)"
    rb"" + _GAP + _FIELD + _GAP + rb"){1,2})?password" + _GAP + rb"(?P<secret>"
    rb"[^\s\"'\\<>\[${(][^\s\"'\\]++)(?(user)|(?=" + _GAP + rb"(?:login|account)\s))"
)
PIPED = (
    rb"echo(?:[ \t]{1,4}-[neE]{1,3})?[ \t]{1,4}"
    rb"(?P<quote>\\{0,7}[\"'])?(?P<secret>[^\s\"'`\\<>\[${(|][^\n\"'`\\|]{2,200}?)"
    rb"(?(quote)(?P=quote))[ \t]{0,4}\|[ \t]{0,4}"
    rb"(?:(?:sudo[ \t])?[^\n|]{0,80}-stdin|sudo[ \t]{1,4}(?:-\w{1,10}[ \t]{1,4}){0,3}-\w{0,5}S)"
)
URI_TOKEN = (
    rb"(?:(?<=http)|(?<=https))://(?P<secret>(?=[\w~-]{0,64}\d)(?=[\d_~-]{0,64}[A-Za-z])"
    rb"(?:[\w~-]{16,}+|(?=[A-Za-z_~-]*+\d++[A-Za-z_~-])[\w~-]{10,}+)|[A-Za-z]{32,}+)(?=@|:[^\s/@]*@)"
)


def password_flag(text: Text, match: re.Match[bytes]) -> Span | None:
    """Return the span of what ``match``, a flag, gives a program that takes a password by it."""
    group = "quoted" if match["quoted"] is not None else "bare"
    value = match[group]
    if not _takes_password(text.raw, match.start(), is_attached=not match["gap"]):
        return None
    is_literal = (match["quote"] or b"").endswith(b"'")
    if value[:1] in b"{<[(%" or (value[:1] == b"$" and not is_literal) or is_about_flag(value):
        return None
    return None if is_plain(value, b"password", SHORTEST_PASSWORD) else match.span(group)


def _takes_password(raw: bytes, at: int, *, is_attached: bool) -> bool:
    """Whether the command in which ``-p`` stands at ``at`` is one that takes a password by it."""
    before = raw[max(0, at - _REACH) : at].replace(b"\\\n", b"  ")
    command = compiled(rb"[\n;|&]|\\n").split(before)[-1]
    programs = _SEPARATE + (rb"|" + _ATTACHED if is_attached else b"")
    pattern = rb"(?<![\w.-])(?:" + programs + rb")(?:\.exe)?(?=[\s\"'])"
    return compiled(pattern).search(command) is not None
