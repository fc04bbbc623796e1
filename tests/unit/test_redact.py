from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import ctxgit
from ctxgit.redact import redact, redact_json
from ctxgit.redact.matching import compiled
from ctxgit.redact.rules import RULES

MARK = "[redacted:secret-value]"
# Every secret here is made up, and put together from parts so that no scanner takes it for real.
MIXED = "aB3dE5fG7hJ9kL2mN4pQ6rS8tU" * 3
HEX = "0a1b2c3d4e5f6789" * 4
BASE64_LINE = "MIIEpAIBAAKCAQEA" * 4

TOKENS = {
    "aws-key": ["AKIA" + "IOSFODNN7EXAMPLE", "ASIA" + "IOSFODNN7EXAMPLE"],
    "github-token": [
        *(prefix + MIXED[:36] for prefix in ("ghp_", "gho_", "ghu_", "ghs_", "ghr_")),
        "github_pat_" + MIXED[:22] + "_" + MIXED[:59],
    ],
    "gitlab-token": ["glpat-" + MIXED[:20]],
    "slack-token": ["xoxb-" + "1234567890-" * 2 + MIXED[:24], "xapp-" + "1-A01-" + MIXED[:24]],
    "stripe-key": [
        kind + "_" + mode + MIXED[:24] for kind in ("sk", "rk") for mode in ("live_", "test_")
    ],
    "anthropic-key": ["sk-ant-" + "api03-" + MIXED],
    "openai-key": [
        "sk-" + MIXED[:48],
        "sk-proj-" + MIXED,
        "sk-" + MIXED[:20] + "T3Blbk" + MIXED[:20],
    ],
    "google-key": ["AIza" + MIXED[:35]],
    "google-token": ["ya29." + MIXED],
    "npm-token": ["npm_" + MIXED[:36]],
    "pypi-token": ["pypi-" + "AgEIcHlwaS5vcmc" + MIXED],
    "hugging-face-token": ["hf_" + MIXED[:34]],
    "sendgrid-key": ["SG." + MIXED[:22] + "." + MIXED[:43]],
    "twilio-key": ["SK" + HEX[:32]],
    "docker-token": ["dckr_pat_" + MIXED[:27]],
    "shopify-token": ["shpat_" + HEX[:32]],
    "atlassian-token": ["ATATT3" + MIXED[:60]],
    "new-relic-key": ["NRAK-" + MIXED[:27].upper()],
    "vault-token": ["hvs." + MIXED[:40]],
    "age-key": ["AGE-SECRET-KEY-1" + MIXED[:58].upper()],
    "digitalocean-token": ["dop_v1_" + HEX],
    "jwt": [
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0." + MIXED[:43],
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0",
    ],
}


@pytest.mark.parametrize(
    ("kind", "token"), [(kind, token) for kind, tokens in TOKENS.items() for token in tokens]
)
@pytest.mark.parametrize(
    "around", ["{}", "see {}, please", "x\\n{}\\ny", 'f("{}")', "?x=%3D{}&y", "→{}\n"]
)
def test_a_provider_s_token_is_masked_wherever_it_stands(
    kind: str, token: str, around: str
) -> None:
    assert redact(around.format(token)) == around.format(f"[redacted:{kind}]")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "https://hooks.slack.com/services/" + "T00000000/B00000000/" + MIXED[:24],
            "https://hooks.slack.com/services/[redacted:slack-webhook]",
        ),
        ("x-y: Bearer " + MIXED[:30], "x-y: Bearer [redacted:bearer]"),
        ("Authorization: Bearer abcdef", f"Authorization: Bearer {MARK}"),
        ("Authorization: Basic dXNlcjpwYXNz", f"Authorization: Basic {MARK}"),
        ("authorization: token abcdef1234", f"authorization: token {MARK}"),
        ('"Authorization": "Bearer abc.def"', f'"Authorization": "Bearer {MARK}"'),
        ("curl -H 'Authorization: Bearer my.tok' h", f"curl -H 'Authorization: Bearer {MARK}' h"),
        ("Cookie: sid=abcd1234; theme=dark\r\nHost: h", "Cookie: [redacted:cookie]\r\nHost: h"),
        ("Set-Cookie: s=abcdef; Path=/", "Set-Cookie: [redacted:cookie]"),
        ('{"Cookie": "s=abcdef"}', '{"Cookie": "[redacted:cookie]"}'),
        ("postgres://me:hunter2@db/prod", "postgres://me:[redacted:uri-password]@db/prod"),
        ("redis://:hunter2@h:6379/0", "redis://:[redacted:uri-password]@h:6379/0"),
        ("mongodb+srv://u:p@ss@h/x", "mongodb+srv://u:[redacted:uri-password]@h/x"),
        ("curl -u me:hunter2 https://h", "curl -u me:[redacted:curl-user] https://h"),
        ("curl -sSu 'me:hun ter2' h", "curl -sSu 'me:[redacted:curl-user]' h"),
        (
            "curl --user me:a -u you:b h",
            "curl --user me:[redacted:curl-user] -u you:[redacted:curl-user] h",
        ),
        (
            "https://h/?a=1&sig=abc%2BDEF1234567890&b=2",
            "https://h/?a=1&sig=[redacted:signature]&b=2",
        ),
        (f"https://h/?X-Amz-Signature={HEX}", "https://h/?X-Amz-Signature=[redacted:signature]"),
        (
            "AKIA" + "IOSFODNN7EXAMPLE,wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            "[redacted:aws-key]",
        ),
    ],
)
def test_headers_links_and_commands(text: str, expected: str) -> None:
    assert redact(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        # environment files and shells
        "DB_PASSWORD=@swordfish@",
        "export GITHUB_TOKEN=@abcdefgh@",
        "export X_TOKEN='@abc 123@'",
        'TOKEN="@a\\"bc123@"',
        "PASSWORD=@p@ss(w0rd&more@",
        "A_TOKEN=@SUPERSECRET@ cmd",
        "docker run -e API_TOKEN=@abcdefgh@ image",
        "ENV API_KEY=@abcdefgh@",
        "$env:API_KEY = '@abcdef@'",
        "MYSQL_PWD=@swordfish@",
        "SECRET_KEY_BASE=@" + HEX + "@",
        "     5→DB_PASSWORD=@swordfish@",
        "     5\tdb_password=@swordfish@",
        ".env:12:DB_PASSWORD=@swordfish@",
        # YAML, INI, TOML, properties
        "password: @hunter2@",
        "db:\n  password: @swordfish@\n  user: me",
        "  password: @correct-horse-battery@",
        'password: "@hunter 2@"  # the database',
        "+  password: @hunter2@",
        "[db]\npassword = @hunter2@\n",
        "aws_secret_access_key = @wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY@",
        "aws_secret_access_key = @/JalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY@",
        'api_key = "@abcd@"',
        "//registry.example/:_authToken=@abc123def@",
        "_auth=@dXNlcjpwYXNzd29yZDEy@",
        # JSON, also inside JSON
        '{"apiKey": "@abcd1234@", "a": 1}',
        r'"{\"apiKey\": \"@abcd1234@\", \"a\": 1}"',
        r'"\"{\\\"password\\\": \\\"@ab cd@\\\"}\""',
        '"SecretAccessKey": "@wJalrXUtnFEMI/K7MDENG@"',
        '"auth": "@dXNlcjpwYXNzd29yZDEy@"',
        '["--password", "@hunter2@"]',
        # source code
        "password = '@hunter2@'",
        "password: str = '@hunter2@'",
        "connect(user=u, password='@hunter2@', port=1)",
        "const token: string = '@abcd1234@';",
        "$password = '@hunter2@';",
        "'password' => '@hunter2@',",
        "dbPass: '@hunter2@',",
        "os.environ['API_TOKEN'] = '@abcd1234@'",
        'define("DB_PASSWORD", "@hunter2@")',
        'token := "@abcd1234@"',
        "<password>@hunter2@</password>",
        # command lines
        "mysql --password @foo@ db",
        "x --token=@foo@ y",
        'x --api-key "@foo bar@"',
        "java -Dpassword=@hunter2@ X",
        # links and connection strings
        "/x?access_token=@abcdef@&y=1",
        "/x?y=1&amp;api_key=@abcdef@ z",
        "host=h password=@hunter2@ user=me",
        "Server=h;Pwd=@hunter2@;User=me;",
        "AccountName=n;AccountKey=@" + MIXED[:60] + "==@;EndpointSuffix=s",
        # prose and logs
        "user: me, password: @hunter2@, port: 1",
        "X-Api-Key: @abcd1234efgh@",
        "api key: @abcd1234efgh@",
    ],
)
def test_a_value_is_masked_under_a_secret_s_name(text: str) -> None:
    start, end = text.index("@"), text.rindex("@")
    assert (
        redact(text[:start] + text[start + 1 : end] + text[end + 1 :])
        == text[:start] + MARK + text[end + 1 :]
    )


PEM_BODY = f"{BASE64_LINE}\n{BASE64_LINE}\nabCD==\n"
PEM_HEADERS = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A1B\n\n"
RSA = ("-----BEGIN RSA PRIVATE KEY-----\n", "-----END RSA PRIVATE KEY-----")
PGP = ("-----BEGIN PGP PRIVATE KEY BLOCK-----\n", "-----END PGP PRIVATE KEY BLOCK-----")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"a\n{RSA[0]}{PEM_BODY}{RSA[1]}\nb", "a\n[redacted:private-key]\nb"),
        (f"{PGP[0]}Version: 1\n\n{PEM_BODY}=abcd\n{PGP[1]}", "[redacted:private-key]"),
        (json.dumps({"k": f"{RSA[0]}{PEM_BODY}{RSA[1]}\n"}), '{"k": "[redacted:private-key]\\n"}'),
        (f"{RSA[0]}{BASE64_LINE}\n{BASE64_LINE}\nplain text", "[redacted:private-key]\nplain text"),
        (f"{RSA[0]}{BASE64_LINE}\nabCD", "[redacted:private-key]"),
        (f"{RSA[0]}{PEM_HEADERS}{BASE64_LINE}\n[cut]", "[redacted:private-key]\n[cut]"),
        (
            f"{RSA[0]}{BASE64_LINE}\n[9 lines cut]\n{MIXED[:64]}\nabCD==\nok",
            "[redacted:private-key]\nok",
        ),
        (f"-{RSA[0]}-{BASE64_LINE}\n-abCD", "-[redacted:private-key]"),
        (
            f"a.pem-1-{RSA[0]}a.pem-2-{BASE64_LINE}\nb.py-1-x",
            "a.pem-1-[redacted:private-key]\nb.py-1-x",
        ),
        (RSA[0] + "MIIEpAIBAAKCAQEAab", "[redacted:private-key]"),
        (f"see {RSA[0]}", f"see {RSA[0]}"),
        (f"  1→{RSA[0]}  2→{BASE64_LINE}\n  3→{BASE64_LINE}", "  1→[redacted:private-key]"),
    ],
)
def test_private_keys_whole_cut_off_escaped_and_listed(text: str, expected: str) -> None:
    assert redact(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "token = next(tokens)",
        "    password: str",
        "def get_token(self) -> Token:",
        "max_tokens = 4096",
        'secret_key = os.environ["KEY"]',
        "tokens: 12000",
        "token: 12345",
        "da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "550e8400-e29b-41d4-a716-446655440000",
        "sha256:" + HEX,
        "/usr/lib/python3/secrets.py",
        "Bearer tokens are sent in the Authorization header",
        "data:image/png;base64," + "iVBORw0KGgoAAAANSUhEUgAAAAUA" * 40,
        "f(password=password, token=tok)",
        "password=self.password",
        "token=None, secret=token.strip()",
        "self.token = token",
        "if token == 'NAME':",
        "password = getpass.getpass('Password: ')",
        'password = input("Enter the password: ")',
        '"Authorization": f"Bearer {token}"',
        "Authorization: Bearer <token>",
        "Authorization: Bearer $TOKEN",
        "usage: x [--password PASSWORD] [--token TOKEN]",
        "use --password to set it, or the `--token` option",
        'add_argument("--token", "-t", help="the token")',
        "id-token: write",
        "GITHUB_TOKEN: ${{ secrets.GITHUB_TOKEN }}",
        "password: ${DB_PASSWORD}",
        "export TOKEN=$(cat file)",
        "token: string;",
        "api_key: process.env.API_KEY,",
        "api_key=API_KEY",
        "PWD=/home/me/project",
        '"PWD": "/home/me"',
        "sort_key = 'name'",
        "primary_key='row_id_1'",
        "print('token=' + token)",
        "'password=%s' % password",
        "user_pass = '%s:%s' % (user, password)",
        "https://h/x?token=<token>",
        "https://{user}:{password}@h",
        "https://me:${PASS}@h",
        "http://localhost:8080/a@b",
        "docker run -u 1000:1000 image",
        "token_type: bearer",
        "tokenizer = 'abc123def'",
        '{"max_tokens": 4096, "input_tokens": 12, "token_count": "12"}',
        "compass: north-12",
        "PASS: tests/test_it1.py",
        "12 pass, 3 fail",
        "password_file=/run/secrets/db1",
        "token_url = 'https://h/token'",
        "# password: the password of the user",
        "cookie = SimpleCookie()",
        "cookies: dict[str, str]",
        "auth = 'basic'",
        "let token = tokens[0];",
        "secret: u8,",
        "if line == '-----BEGIN PRIVATE KEY-----':",
        "if x == '-----BEGIN PRIVATE KEY-----':\n    raise UnsupportedAlgorithm\n",
        "B = '-----BEGIN PRIVATE KEY-----'\nE = '-----END PRIVATE KEY-----'\n",
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----\n",
        "task-1234567890abcdefghij1",
        "class='sk-folding-cube-animation'",
        "password = ''",
        'token = "<your token>"',
        'api_key = "YOUR_API_KEY"',
        'password = "***"',
        'secret = "[REDACTED]"',
        "token: '#ddd0c0'",
        "from scipy._linprog_highs_to_scipy_status_message import x",
        f"password: {MARK}",
        f"https://me:{MARK}@h",
    ],
)
def test_what_is_no_secret_stays_the_very_same_object(text: str) -> None:
    assert redact(text) is text


COMMAND = "[redacted:command-password]"


@pytest.mark.parametrize(
    "text",
    [
        "mysql -p@hunter2@ db",
        "sudo mysql -u root -p'@hunter 2@' -h h",
        'mysqldump -u me -p"@hunter2@" db > x.sql',
        "/usr/bin/mariadb-dump -p@hunter2@",
        "sshpass -p @hunter2@ ssh me@h",
        "sshpass -p'@hun ter2@' ssh me@h",
        "sshpass -p '@$ecret!@' ssh me@h",
        "docker login -u me -p @hunter2@ registry.example",
        "docker login -u me \\\n  -p @hunter2@",
        "mongosh -u me -p @hunter2@ h/db",
        '{"command": "sshpass -p \\"@hun ter2@\\" ssh h"}',
        'run(["sshpass", "-p", "@hunter2@", "ssh"])',
        'run(["mysql", "-p@hunter2@"])',
        "7z x -p@hunter2@ a.7z",
        "echo @hunter2@ | sudo -S ls",
        "echo -n '@hun ter2@' | docker login -u me --password-stdin",
    ],
)
def test_a_password_is_masked_where_a_command_takes_one(text: str) -> None:
    start, end = text.index("@"), text.index("@", text.index("@") + 1)
    clean = redact(text[:start] + text[start + 1 : end] + text[end + 1 :])
    assert clean == text[:start] + COMMAND + text[end + 1 :]
    assert redact(clean) == clean


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            f"git clone https://{MIXED[:20]}@host/x",
            "git clone https://[redacted:uri-token]@host/x",
        ),
        ("https://tok3nabcdef@host/x", "https://[redacted:uri-token]@host/x"),
        (
            f"https://{HEX[:40]}:x-oauth-basic@host/x",
            "https://[redacted:uri-token]:[redacted:uri-password]@host/x",
        ),
        ("psql postgres://me:hunter2@h/db", "psql postgres://me:[redacted:uri-password]@h/db"),
        ("PGPASSWORD=hunter2 psql -h h", f"PGPASSWORD={MARK} psql -h h"),
        ("PGPASSWORD='hunter2' psql", f"PGPASSWORD='{MARK}' psql"),
        (
            "machine h login me password swordfish",
            "machine h login me password [redacted:netrc-password]",
        ),
        (
            "1→machine h\n2→  login me\n3→  password swordfish\n",
            "1→machine h\n2→  login me\n3→  password [redacted:netrc-password]\n",
        ),
        (
            "machine h\npassword swordfish\nlogin me",
            "machine h\npassword [redacted:netrc-password]\nlogin me",
        ),
    ],
)
def test_links_environments_and_netrc(text: str, expected: str) -> None:
    assert redact(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "mysql -p -h host db",
        "mysql -u root -p db",
        "mysql -p$PASS db",
        'mysql -p"$PASS" db',
        "mysql -p${PASS} db",
        "mysql -p<password>",
        "mysql -pPASSWORD",
        "mysql -P3306 -h h",
        "cat mysql.sql; mkdir -psomewhere",
        "mkdir -p build/output",
        "docker run -p 127.0.0.1:3306:3306 mysql",
        "pytest -p no:cacheprovider",
        "ssh -p 2222 login@host",
        "docker login -u me -p",
        "docker login -p $TOKEN",
        "git clone ssh://git@host/x",
        "https://some.user1@host/x",
        "https://contoso2024@dev.example/contoso2024/x",
        "https://longusernameofletters@host/x",
        "machine learning password reset",
        "the machine and its login and password are lost",
        "echo hello world | sudo tee x",
        "echo $PASS | sudo -S ls",
    ],
)
def test_commands_without_a_password_stay(text: str) -> None:
    assert redact(text) is text


def test_ordinary_source_survives() -> None:
    """The modules of the standard library, at most a handful of lines changed.

    No secret is in them. What may be taken for one are a few examples in documentation, as
    ``http://user:password@host``; tests, which are full of made-up credentials, are not read.
    """
    changed = []
    files = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))
    for file in files:
        text = file.read_text("utf-8", errors="replace")
        lines = zip(text.split("\n"), redact(text).split("\n"), strict=True)
        changed += [(file.name, old) for old, new in lines if old != new]
    assert len(files) > 100
    assert len(changed) <= 5, changed


@pytest.mark.parametrize(
    "text",
    [
        "9" * 20_000,
        "iVBORw0KGgo+/AAAA" * 3_600,
        "x" * 2_000_000,
        "token=" * 20_000,
        "token=$" * 20_000,
        "token:a" * 20_000,
        "password: " * 20_000,
        "password=a1," * 20_000,
        "password='" * 20_000,
        'token="token=\\"token=\\\\\\"' * 8_000,
        "token='" + 'token="x\\"' * 20_000,
        'token="' + "\\" * 200_000,
        "password='$" + "pass" * 50_000 + "!'",
        "token" + " " * 200_000,
        "token" + "_value" * 30_000,
        "--token " * 20_000,
        "://" * 60_000,
        "://a:" + "b" * 200_000,
        "://a:" * 40_000,
        "_eyJ" * 50_000,
        ".eyJaaaaaaaa" * 20_000,
        "ghp_" * 50_000,
        "AKIA" * 50_000,
        "-----BEGIN PRIVATE KEY-----\n" * 8_000,
        ("-----BEGIN PRIVATE KEY-----\n" + "A" * 64 + "\n") * 3_000,
        "-----BEGIN PRIVATE KEY-----\n" + "1" * 200_000,
        "-----BEGIN PRIVATE KEY-----" + " \n" * 100_000,
        "-----BEGIN PRIVATE KEY-----\n" + ("A" * 64 + "\n...\n") * 5_000,
        "-----BEGIN PRIVATE KEY-----\n" + "a:" * 100_000,
        "-----BEGIN PRIVATE KEY-----\n" + "A" * 39 + " " * 100_000,
        "mysql -pab" * 10_000,
        "mysql " + "-pabc " * 20_000,
        "mysql " + " -p'abc\\" * 10_000,
        "machine " * 20_000,
        "machine a " + "login b " * 20_000,
        "echo a" * 20_000,
        "echo " + "a" * 100_000,
        "https://" * 20_000,
        "https://" + "a1" * 100_000,
        "curl -u " * 20_000,
        "curl " + "-u a:" * 40_000,
        "cookie:a=" * 20_000,
        "Bearer " + "a" * 200_000,
        "://" + "&sig=" * 40_000,
        "[redacted:" * 20_000,
    ],
    ids=lambda text: text[:24],
)
def test_hostile_text_is_done_in_one_go(text: str) -> None:
    """Anything quadratic takes minutes here; what comes out is stable all the same."""
    clean = redact(text)
    assert redact(clean) == clean


def test_lone_surrogates_are_replaced() -> None:
    assert redact("a\ud800b").encode().decode() == "a���b"
    assert redact("\ud800 password: hunter2") == f"��� password: {MARK}"
    assert redact_json({"\udc00": "\udc00"}) == {"���": "���"}


def test_secrets_that_overlap_become_one_mark() -> None:
    token = "ghp_" + MIXED[:36]
    assert redact(f"password='a{token} b'") == f"password='{MARK}'"
    assert redact(f"token: {token}") == "token: [redacted:github-token]"


# --- JSON ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "key",
    [
        "password",
        "Passwd",
        "dbPassword",
        "db-pass",
        "passphrase",
        "clientSecret",
        "client_secret",
        "token",
        "accessToken",
        "GITHUB_TOKEN",
        "apikey",
        "apiKey",
        "x-api-key",
        "API key",
        "access_key",
        "privateKey",
        "AWS_SECRET_ACCESS_KEY",
        "Authorization",
        "cookie",
        "Set-Cookie",
        "credential",
        "credentials",
        "connectionString",
        "connection_string",
        "connection string",
        "password2",
    ],
)
def test_a_string_under_a_secret_s_key_is_masked_whole(key: str) -> None:
    assert redact_json({key: "two words"}) == {key: MARK}
    assert redact_json({key: ["swordfish", 1]}) == {key: [MARK, 1]}


@pytest.mark.parametrize(
    "key",
    [
        "max_tokens",
        "inputTokens",
        "token_count",
        "token_type",
        "sort_key",
        "key",
        "keys",
        "compass",
        "public_key",
    ],
)
def test_a_key_that_names_no_secret_leaves_its_value(key: str) -> None:
    assert redact_json({key: "two words"}) == {key: "two words"}


@pytest.mark.parametrize(
    "value",
    [
        *("", "no", "true", "None", "12", "xxx", "xxxxxxxx", "***", "…"),
        *("<token>", "${TOKEN}", "$TOKEN", "{{ token }}", "%s", "{user}:{password}"),
        *(4096, 0.5, True, None),
    ],
)
def test_a_value_that_is_plainly_no_secret_stays(value: object) -> None:
    assert redact_json({"token": value}) == {"token": value}


def test_a_placeholder_with_a_secret_in_it_is_masked() -> None:
    assert redact_json({"token": "<ghp_" + MIXED[:36] + ">"}) == {"token": MARK}


def test_a_nested_object_goes_by_its_own_keys() -> None:
    value = {"credentials": {"user": "me", "password": "hunter2", "list": [{"token": "abcd"}, "x"]}}
    assert redact_json(value) == {
        "credentials": {"user": "me", "password": MARK, "list": [{"token": MARK}, "x"]}
    }


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        # numbers, under a password's name only
        ({"password": 48151623}, {"password": MARK}),
        ({"dbPasswd": [48151623]}, {"dbPasswd": [MARK]}),
        # objects and lists under a secret's name
        ({"password": {"value": "swordfish"}}, {"password": {"value": MARK}}),
        ({"password": {"a": [{"b": "swordfish"}]}}, {"password": {"a": [{"b": MARK}]}}),
        ({"secrets": ["swordfish"]}, {"secrets": [MARK]}),
        ({"secrets": {"db": "swordfish"}}, {"secrets": {"db": MARK}}),
        ({"tokens": [MIXED[:20], "the"]}, {"tokens": [MARK, "the"]}),
        (
            {"password": {"type": "string", "default": "swordfish", "title": "The password"}},
            {"password": {"type": "string", "default": MARK, "title": "The password"}},
        ),
        # names beside their values
        ({"name": "X-Api-Key", "value": "two words"}, {"name": "X-Api-Key", "value": MARK}),
        ({"Key": "db_password", "Value": "swordfish"}, {"Key": "db_password", "Value": MARK}),
        (
            {"name": "Password field", "type": "textbox", "value": "swordfish"},
            {"name": "Password field", "type": "textbox", "value": MARK},
        ),
        (
            {"element": "Password input", "ref": "e1", "text": "swordfish"},
            {"element": "Password input", "ref": "e1", "text": MARK},
        ),
        (
            {"selector": 'input[name="password"]', "value": "swordfish"},
            {"selector": 'input[name="password"]', "value": MARK},
        ),
        (["Authorization", "Basic YTpi"], ["Authorization", MARK]),
        (
            [["user", "michael"], ["password", "swordfish"]],
            [["user", "michael"], ["password", MARK]],
        ),
        (
            ["Host", "h", "X-Api-Key", "abcd1234", "Accept", "*/*"],
            ["Host", "h", "X-Api-Key", MARK, "Accept", "*/*"],
        ),
        (["x", "--password", "two words", "y"], ["x", "--password", MARK, "y"]),
        (["x", "--api-key", "swordfish"], ["x", "--api-key", MARK]),
        # commands and keys spread over a list
        (["sshpass", "-p", "two words", "ssh"], ["sshpass", "-p", COMMAND, "ssh"]),
        (["docker", "login", "-p", "swordfish"], ["docker", "login", "-p", COMMAND]),
        (["mysql", "-pswordfish", "db"], ["mysql", f"-p{COMMAND}", "db"]),
        (
            [" a", f"+{RSA[0].strip()}", f"+{BASE64_LINE}", f"+{RSA[1]}", " b"],
            [" a", "+[redacted:private-key]", *["[redacted:private-key]"] * 2, " b"],
        ),
        (
            [RSA[0], 1, f"{BASE64_LINE}\n", f"{RSA[1]}\n", "x"],
            [
                "[redacted:private-key]",
                1,
                "[redacted:private-key]",
                "[redacted:private-key]\n",
                "x",
            ],
        ),
    ],
)
def test_a_name_reaches_what_is_in_it_and_beside_it(value: object, expected: object) -> None:
    assert redact_json(value) == expected
    assert redact_json(expected) == expected


@pytest.mark.parametrize(
    "value",
    [
        {"password": 1234, "pass": 12, "token": 48151623, "max_tokens": 1234567},
        {"tokens": 1234567, "passwords": 1234567, "password_timeout": 1234567, "port": 543210},
        {"password": True, "secret": None},
        {"password": {"type": "string", "description": "the password to use", "minLength": 8}},
        {"token": {"type": ["string", "null"], "pattern": "^[a-z]+$", "enum": ["first", "other"]}},
        {"properties": {"password": {"$ref": "#/definitions/password"}}},
        {"token": {"description": "how to find it", "required": True, "type": "password"}},
        {"secrets": {"db_password": {"file": "./db_password.txt"}}},
        {"secrets": ["db_password", "API_TOKEN"]},
        {"secrets": "inherit"},
        {"tokens": ["def", "function", "name"], "usage": {"tokens": {"input": 1234567}}},
        {"name": "password", "type": "string", "description": "the password to use"},
        {"name": "DB_PASSWORD", "valueFrom": {"secretKeyRef": {"name": "db-secret"}}},
        {"name": "theme", "value": "swordfish"},
        {"name": "api_key", "value": "${API_KEY}"},
        {"id": "rotate-token", "content": "Rotate it", "status": "pending"},
        ["username", "password", "email"],
        ["password", "email"],
        ["Authorization", "Content-Type", "Accept"],
        ["x", "--password", "--verbose"],
        ["x", "--password", "PASSWORD"],
        ["mkdir", "-p", "somewhere"],
        ["a token", "of mine"],
        ["-----BEGIN PRIVATE KEY-----", "is how it begins"],
    ],
)
def test_a_structure_about_secrets_stays(value: object) -> None:
    assert redact_json(value) == value


def test_keys_are_redacted_kept_apart_and_in_order() -> None:
    keys = ["a", "AKIA" + "A" * 16, "AKIA" + "B" * 16, "[redacted:aws-key]~2", "AKIA" + "C" * 16]
    clean = redact_json({key: number for number, key in enumerate(keys)})
    assert isinstance(clean, dict)
    assert list(clean.values()) == [0, 1, 2, 3, 4]
    assert list(clean)[:3] == ["a", "[redacted:aws-key]", "[redacted:aws-key]~2"]
    assert "AKIA" not in json.dumps(clean)
    assert redact_json(clean) == clean


def test_a_deep_structure_is_no_recursion() -> None:
    deep: object = {"token": "swordfish"}
    for _ in range(100_000):
        deep = [deep]
    clean = redact_json(deep)
    for _ in range(100_000):
        assert isinstance(clean, list)
        clean = clean[0]
    assert clean == {"token": MARK}


def test_the_value_given_is_not_changed() -> None:
    value = {"a": [{"password": "hunter2"}]}
    redact_json(value)
    assert value == {"a": [{"password": "hunter2"}]}


# --- what it costs ------------------------------------------------------------------------


def test_only_rules_whose_literal_occurs_are_compiled() -> None:
    compiled.cache_clear()
    redact("Nothing to see in this text, however long it may be. " * 50)
    assert compiled.cache_info().currsize == 0
    assert redact("this is one: " + TOKENS["jwt"][0]) == "this is one: [redacted:jwt]"
    assert compiled.cache_info().currsize == 1


def test_importing_the_gate_compiles_nothing() -> None:
    code = (
        "import re, enum, typing, ctxgit.text; re.compile = None;"
        "from ctxgit.redact import redact; print(redact('a clean text'))"
    )
    package = str(Path(ctxgit.__file__).parent.parent)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=package, check=True, capture_output=True
    )
    assert done.stdout == b"a clean text\n"


def test_every_rule_is_one_whole_row() -> None:
    for rule in RULES:
        assert rule.literals.split()
        assert rule.kind.replace("-", "").isalpha()
        if rule.within == "folded":
            assert rule.literals == rule.literals.lower()
