"""The table of what a secret looks like; another kind is another row.

Every pattern is linear on hostile text: what it runs over is bounded, or ends at the latest
where the next try begins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from ctxgit.redact.assignments import ASSIGNMENT, assigned
from ctxgit.redact.commands import NETRC, PASSWORD_FLAG, PIPED, URI_TOKEN, password_flag
from ctxgit.redact.matching import Span, Text, compiled
from ctxgit.redact.pem import PEM_BEGIN, private_key

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator


class Rule(NamedTuple):
    """One row: ``pattern`` is matched wherever one of ``literals`` stands in the text.

    The literals, words apart by spaces, are looked up ``within`` one form of the text first.
    The group ``secret`` is what is masked, else the whole match; ``span`` decides instead
    where a pattern cannot.
    """

    kind: str
    literals: bytes
    pattern: bytes
    within: Literal["raw", "folded", "runs", "links", "curls"] = "runs"
    span: Callable[[Text, re.Match[bytes]], Span | None] | None = None

    def spans(self, text: Text) -> Iterator[Span]:
        """Yield start and end of every secret of this kind."""
        where: bytes = getattr(text, self.within)
        for literal in self.literals.split():
            if literal not in where:
                continue
            subject = text.folded if self.within == "folded" else text.raw
            pattern, at = compiled(self.pattern), subject.find(literal)
            while at >= 0:
                match = pattern.match(subject, at)
                span = self._span(text, match) if match else None
                if span:
                    yield span
                at = subject.find(literal, max(at + len(literal), span[1] if span else 0))

    def _span(self, text: Text, match: re.Match[bytes]) -> Span | None:
        if self.span:
            return self.span(text, match)
        return match.span("secret" if "secret" in match.re.groupindex else 0)


_EDGE = rb"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))"
_AWS = (
    rb"A[KS]IA[A-Z0-9]{16}[\w-]*+"
    rb"(?:[\s,:;|\"']{1,8}[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=]))?"
)
_OPENAI = (
    rb"sk-(?:(?:proj|svcacct|admin|None|or)-[\w-]{16,}|(?=[A-Za-z]{0,40}\d)[A-Za-z0-9]{20,}[\w-]*)"
)
_JWT = (
    rb"(?:(?<![\w-])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))"
    rb"eyJ[\w-]{8,}+\.(?:eyJ[\w-]{8,}+|[\w-]*+\.[\w-]{8,}+)(?:\.[\w-]*+){0,3}"
)
_BEARER = rb"(?i:earer)[ \t]+(?P<secret>(?=[A-Za-z_.~+/-]*+\d)[\w.~+/-]{16,}=*)"
_COOKIE = (
    rb"cookies?(?:\\{0,7}[\"'])?[ \t]{0,4}(?::[ \t]{0,4}(?:\\{0,7}[\"'])?|=[ \t]{0,4}\\{0,7}[\"'])"
    rb"(?P<secret>[\w.%-]{1,64}=(?![<{$%*\[])[^\r\n\"'\\]{4,})"
)
_URI_PASSWORD = rb"://[^\s:/@\"'`<>\[\]\\]*+:(?P<secret>(?![\[{$<]|%[sd(]|\*+@)[^\s/\"'`<>\\?]+)@"
_CURL_USER = (
    rb"(?<=\s)-(?:[A-Za-z]{0,6}u|-user|-proxy-user)[ =]?(?P<quote>[\"'])?"
    rb"[^\s:\"'\\\[\]]*+:(?P<secret>(?![\[{$<])(?(quote)[^\"'\n\\]+|[^\s\"'\\]+))"
)
_CURL_REACH = 1000
_SIGNATURE = (
    rb"(?:(?<=[?&;])|(?<=X-Amz-)|(?<=X-Goog-))[Ss]ig(?:nature)?=(?P<secret>[\w%+/=.~-]{16,})"
)


def _after_curl(text: Text, match: re.Match[bytes]) -> Span | None:
    """Return the span of a password given to curl, which must stand not far before it."""
    at = match.start()
    near = text.raw.rfind(b"curl", max(0, at - _CURL_REACH), at) >= 0
    return match.span("secret") if near else None


RULES = (
    Rule("private-key", b"-----BEGIN", PEM_BEGIN, "raw", private_key),
    Rule("aws-key", b"AKIA ASIA", _EDGE + _AWS),
    Rule("github-token", b"ghp_ gho_ ghu_ ghs_ ghr_", rb"gh[pousr]_[A-Za-z0-9]{30,}\w*"),
    Rule("github-token", b"github_pat_", rb"github_pat_[A-Za-z0-9_]{20,}"),
    Rule(
        "gitlab-token",
        b"glpat- glptt- glrt- gldt- glsoat-",
        _EDGE + rb"gl(?:pat|ptt|rt|dt|soat)-[\w.-]{20,}",
    ),
    Rule("slack-token", b"xox", _EDGE + rb"xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{10,}"),
    Rule("slack-token", b"xapp-", rb"xapp-\d-[A-Za-z0-9-]{10,}"),
    Rule(
        "slack-webhook",
        b"hooks.slack.com",
        rb"hooks\.slack\.com/\w+/(?P<secret>[\w/-]{20,})",
        "links",
    ),
    Rule("stripe-key", b"sk_live_ sk_test_ rk_live_ rk_test_", rb"[sr]k_\w{4}_[A-Za-z0-9]{10,}"),
    Rule("anthropic-key", b"sk-ant-", _EDGE + rb"sk-ant-[\w-]{16,}"),
    Rule("openai-key", b"sk-", _EDGE + _OPENAI),
    Rule("google-key", b"AIza", _EDGE + rb"AIza[\w-]{30,}"),
    Rule("google-token", b"ya29.", _EDGE + rb"ya29\.[\w.-]{20,}"),
    Rule("npm-token", b"npm_", _EDGE + rb"npm_[A-Za-z0-9]{30,}"),
    Rule("pypi-token", b"pypi-", _EDGE + rb"pypi-[\w-]{40,}"),
    Rule("hugging-face-token", b"hf_", _EDGE + rb"hf_[A-Za-z0-9]{30,}"),
    Rule("sendgrid-key", b"SG.", _EDGE + rb"SG\.[\w-]{16,}\.[\w-]{16,}"),
    Rule("twilio-key", b"SK", _EDGE + rb"SK[0-9a-f]{32}[\w-]*"),
    Rule("digitalocean-token", b"dop_v1_ doo_v1_ dor_v1_", rb"do[opr]_v1_[a-f0-9]{40,}"),
    Rule("docker-token", b"dckr_pat_ dckr_oat_", _EDGE + rb"dckr_[po]at_[\w-]{20,}"),
    Rule("shopify-token", b"shpat_ shpca_ shppa_ shpss_", _EDGE + rb"shp\w{2,3}_[0-9a-f]{32}\w*"),
    Rule("atlassian-token", b"ATATT3", _EDGE + rb"ATATT3[\w=-]{40,}"),
    Rule("new-relic-key", b"NRAK-", _EDGE + rb"NRAK-[A-Z0-9]{20,}"),
    Rule("vault-token", b"hvs.", _EDGE + rb"hvs\.[\w-]{20,}"),
    Rule("age-key", b"AGE-SECRET-KEY-1", rb"AGE-SECRET-KEY-1[A-Z0-9]{40,}"),
    Rule("jwt", b"eyJ", _JWT),
    Rule("bearer", b"earer EARER", _BEARER),
    Rule("cookie", b"cookie", _COOKIE, "folded"),
    Rule("uri-password", b"://", _URI_PASSWORD, "links"),
    Rule("uri-token", b"://", URI_TOKEN, "links"),
    Rule("command-password", b"-p", PASSWORD_FLAG, "raw", password_flag),
    Rule("command-password", b"echo", rb"(?<![\w-])" + PIPED, "raw"),
    Rule("netrc-password", b"machine", rb"(?<![\w-])" + NETRC, "raw"),
    Rule("curl-user", b"-", _CURL_USER, "curls", _after_curl),
    Rule("signature", b"sig= signature= Signature=", _SIGNATURE, "links"),
    Rule(
        "secret-value", b"pass pwd secret token credential auth key", ASSIGNMENT, "folded", assigned
    ),
)
KEYS = tuple(rule for rule in RULES if rule.kind == "private-key")
"""Rules of secrets that go over several lines."""
COMMANDS = tuple(rule for rule in RULES if rule.kind == "command-password")
"""Rules of secrets that show by the command they are an argument of."""
