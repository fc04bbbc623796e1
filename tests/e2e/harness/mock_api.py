"""A stand-in for the Anthropic Messages API, on loopback, scripted by a playbook.

    python -m harness.mock_api FOLDER [--own-network]

FOLDER holds ``playbook.json`` (see ``script.Playbook``); every request is appended to its
``requests.jsonl`` as ``{"kind": …, "path": …, "body": …}``. The port is printed on the first
line of output. The server ends when its input does, and thus with whoever started it.

The wire format is that of https://docs.anthropic.com/en/api/messages and …/streaming.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import signal
import socket
import struct
import sys
import threading
import time
import uuid
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

from harness.script import Json, Playbook, Step, request_kind

if TYPE_CHECKING:
    from collections.abc import Iterator

PLAYBOOK = "playbook.json"
REQUESTS = "requests.jsonl"
CHARACTERS_PER_TOKEN = 4

# From <linux/sockios.h> and <linux/if.h>.
_SIOCSIFFLAGS = 0x8914
_IFF_UP = 0x1


def message(body: Json, step: Step) -> Json:
    """Return the API's message object for a reply; sizes not given are estimated."""
    content: list[Json] = [{"type": "text", "text": step.text}] if step.text else []
    content += [
        {
            "type": "tool_use",
            "id": tool.id or f"toolu_{uuid.uuid4().hex[:24]}",
            "name": tool.name,
            "input": tool.input,
        }
        for tool in step.tools
    ]
    usage = {
        "input_tokens": len(json.dumps(body)) // CHARACTERS_PER_TOKEN,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": len(json.dumps(content)) // CHARACTERS_PER_TOKEN,
    }
    return {
        "id": f"msg_{uuid.uuid4().hex[:24]}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", ""),
        "content": content,
        "stop_reason": "tool_use" if step.tools else "end_turn",
        "stop_sequence": None,
        "usage": usage | dict(step.usage),
    }


def stream(reply: Json) -> Iterator[Json]:
    """Yield the events in which the API streams a message."""
    yield {"type": "message_start", "message": reply | {"content": [], "stop_reason": None}}
    for index, block in enumerate(reply["content"]):
        if block["type"] == "text":
            start = block | {"text": ""}
            delta = {"type": "text_delta", "text": block["text"]}
        else:
            start = block | {"input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield {"type": "content_block_start", "index": index, "content_block": start}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    end = {"stop_reason": reply["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": end, "usage": reply["usage"]}
    yield {"type": "message_stop"}


class Handler(BaseHTTPRequestHandler):
    """Answers the few requests the client makes."""

    protocol_version = "HTTP/1.1"
    folder: Path
    lock = threading.Lock()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (its parent's name)
        """Say nothing: the requests file tells it all."""

    def do_HEAD(self) -> None:
        """Answer the client's question whether the network is there."""
        self._send({})

    def do_GET(self) -> None:
        """Know nothing of models, accounts and files."""
        self._record("other", {})
        self._send({"type": "error"}, HTTPStatus.NOT_FOUND)

    def do_POST(self) -> None:
        """Answer a message request, a count of tokens, or anything else with nothing."""
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
        path = self.path.partition("?")[0]
        if path == "/v1/messages":
            self._record(request_kind(body), body)
            self._converse(body)
            return
        self._record("other", body)
        self._send({"input_tokens": len(json.dumps(body)) // CHARACTERS_PER_TOKEN})

    def _converse(self, body: Json) -> None:
        step = Playbook.load(self.folder / PLAYBOOK).answer(body)
        time.sleep(step.delay)
        reply = message(body, step)
        if not body.get("stream"):
            self._send(reply)
            return
        self.send_response(HTTPStatus.OK)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for event in stream(reply):
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())

    def _send(self, answer: Json, status: HTTPStatus = HTTPStatus.OK) -> None:
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _record(self, kind: str, body: Json) -> None:
        line = json.dumps({"kind": kind, "path": self.path, "body": body})
        with self.lock, (self.folder / REQUESTS).open("a", encoding="utf-8") as file:
            file.write(line + "\n")


class Server(ThreadingHTTPServer):
    """Serves on any free port; a client that hangs up is no error."""

    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Report faults of our own, not a connection that the client dropped."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]  # passed on


def raise_loopback() -> None:
    """Bring up ``lo``, which is down in a new network namespace."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", _IFF_UP))


def main() -> None:
    """Serve until the input ends."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--own-network", action="store_true")
    arguments = parser.parse_args()
    if arguments.own_network:
        raise_loopback()
        # As the first process of its namespace it inherits orphans: the kernel buries them.
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    Handler.folder = arguments.folder
    with Server(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        print(server.server_port, flush=True)  # noqa: T201 (how the starter learns the port)
        sys.stdin.read()


if __name__ == "__main__":
    main()
