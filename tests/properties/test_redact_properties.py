from __future__ import annotations

import json
import string
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ctxgit.redact import redact, redact_json

MARK = "[redacted:secret-value]"


def tokens(mixed: str) -> list[str]:
    """Made-up secrets of many kinds around 26 letters and digits."""
    return [
        "AKIA" + mixed[:16].upper(),
        "ghp_" + mixed + mixed[:10],
        "github_pat_" + mixed,
        "xoxb-" + "1234567890-" + mixed,
        "sk-ant-" + mixed,
        "sk-" + mixed,
        "npm_" + mixed + mixed[:10],
        "SG." + mixed[:22] + "." + mixed * 2,
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0." + mixed,
        f"-----BEGIN PRIVATE KEY-----\n{mixed}\n-----END PRIVATE KEY-----",
    ]


MIXED = "aB3dE5fG7hJ9kL2mN4pQ6rS8tU"
SECRETS = st.sampled_from(tokens("zY9xW8vU7tS6rQ5pN4mL3kJ2hG"))
"""None of them is among the pieces of which surroundings are made."""
PIECES = st.sampled_from(
    [
        *tokens(MIXED),
        *"=:,;&?@<>{}[]()$%#\"'`\\/-_. \n\t",
        *("password", "token", "api_key", "secret", "auth", "PASS", "authorization", "cookie"),
        *(" = ", ": ", "--", "://", '\\"', "\\n", "hunter2", "foo", "12345678", "a=b", "curl -u "),
        *("Bearer ", "Authorization: ", "Cookie: ", "sig=", "export ", "your-", "f'", '"""', "é"),
        *("mysql ", "login ", " -p", "echo ", " | sudo -S", "machine ", " login ", " password "),
        *("https://", "k.pem:1:", "-----END PRIVATE KEY-----", MIXED + MIXED),
        *("-----BEGIN PRIVATE KEY-----", "[redacted:jwt]", "[redacted:", "\ud800", MIXED),
    ]
)
TEXT = st.lists(PIECES, max_size=14).map("".join) | st.text(st.characters(exclude_categories=()))
WORDS = st.sampled_from(
    [
        *("name", "value", "type", "string", "element", "text", "password", "secrets", "tokens"),
        *("X-Api-Key", "--token", "Authorization", "hunter2", "mysql", "-p", "-phunter2", "login"),
        *("-----BEGIN PRIVATE KEY-----", "+" + MIXED * 2, "DB_PASSWORD", "Password field"),
    ]
)
SCALARS: st.SearchStrategy[Any] = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False)
)
JSON: st.SearchStrategy[Any] = st.recursive(
    SCALARS | TEXT,
    lambda inner: (
        st.lists(inner | WORDS, max_size=4)
        | st.dictionaries(WORDS | TEXT, inner | WORDS, max_size=4)
    ),
    max_leaves=12,
)


@given(TEXT)
def test_what_comes_out_can_be_encoded_and_stays_as_it_is(text: str) -> None:
    clean = redact(text)
    clean.encode()
    assert redact(clean) == clean


@given(st.text("bdfghijlmnqruvxyz 0123456789.,()\n", max_size=400))
def test_text_that_cannot_hold_a_secret_is_given_back(text: str) -> None:
    assert redact(text) is text


@given(TEXT, SECRETS, TEXT, st.sampled_from([" ", "\n", '"', "(", "\\n"]))
def test_no_token_survives_in_any_surroundings(
    before: str, secret: str, after: str, gap: str
) -> None:
    assert secret not in redact(f"{before}{gap}{secret}{gap}{after}")


@given(
    st.sampled_from(["password", "apiKey", "db-secret", "ACCESS_TOKEN"]),
    st.text(string.ascii_letters + string.digits + "!\"#$%&'*+/=?@\\^_`{}|~\n\té", max_size=30),
    st.integers(0, 3),
)
def test_json_in_text_is_masked_and_stays_json(key: str, secret: str, depth: int) -> None:
    secret = "s3cret" + secret
    text = json.dumps({"a": 1, key: secret, "b": [2]})
    for _ in range(depth):
        text = json.dumps(text)
    value: object = redact(text)
    for _ in range(depth + 1):
        assert isinstance(value, str)
        value = json.loads(value)
    assert value == {"a": 1, key: MARK, "b": [2]}


@given(JSON)
def test_json_keeps_its_structure_and_is_done_once(value: object) -> None:
    clean = redact_json(value)
    assert shape(clean) == shape(value)
    assert redact_json(clean) == clean
    json.dumps(clean, ensure_ascii=False).encode()


@given(JSON, SECRETS)
def test_no_token_survives_as_value_or_key(value: object, secret: str) -> None:
    clean = redact_json({"a": [secret, value, {secret: value, f" {secret} ": [secret]}]})
    assert secret not in json.dumps(clean)
    assert json.dumps(secret)[1:-1] not in json.dumps(clean)


def shape(value: object) -> object:
    """The value with every string and whole number, which may be masked, taken for the same one."""
    if isinstance(value, dict):
        return [shape(item) for item in value.values()]
    if isinstance(value, list):
        return [shape(item) for item in value]
    return "" if isinstance(value, str) or type(value) is int else value


# --- keys whose lines stand behind something ----------------------------------------------

BODY = [
    "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDb" + MIXED[n : n + 12] for n in range(4)
]
KEY_LINES = ["-----BEGIN RSA PRIVATE KEY-----", *BODY, "-----END RSA PRIVATE KEY-----"]
LINES = st.sampled_from(
    [
        *("{}", "-{}", "+{}", " {}", "> {}", "> > {}", "# {}", "// {}", " * {}", "-- {}", "; {}"),
        *("k.pem:{n}:{}", "k.pem-{n}-{}", "a-b/c.d/k.pem:{}", "{n}:{}", "{n}-{}", "{n}|{}"),
        *("   {n}→{}", "     {n}\t{}", "    {}", "\t{}", "| {} |", "│ {} │", "{n} | + {}", "{}\r"),
        *('"{}\\n" +', "'{}' \\", '    "{}",', 'key += "{}\\n";', 'b.append("{}");', "+// {}"),
        *("\x1b[32m+\x1b[m\x1b[32m{}\x1b[m", "my dir/k.pem:{n}:{}", "rem {}", "<li>{}</li>"),
    ]
)


@given(LINES, st.integers(1, 4), st.sampled_from(["", "\ntext", "\n[5 lines cut]\n"]))
def test_no_line_of_a_key_survives_behind_anything(line: str, shown: int, after: str) -> None:
    for lines in (KEY_LINES, KEY_LINES[: shown + 1]):
        listed = "\n".join(line.format(text, n=n) for n, text in enumerate(lines, 1))
        for text in (f"see\n{listed}{after}", json.dumps(listed), json.dumps(json.dumps(listed))):
            clean = redact(text)
            assert not any(part in clean for part in BODY)
            assert redact(clean) == clean


@given(LINES, st.integers(1, 4))
def test_no_line_of_a_key_survives_in_a_list(line: str, shown: int) -> None:
    for lines in (KEY_LINES, KEY_LINES[: shown + 1]):
        value = {"a": [line.format(text, n=n) for n, text in enumerate(lines, 1)]}
        clean = redact_json(value)
        assert not any(part in json.dumps(clean) for part in BODY)
        assert redact_json(clean) == clean
