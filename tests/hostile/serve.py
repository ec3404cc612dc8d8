"""Replays the http/ cases on loopback: POST /<case-id>/… gets that case, drips, hangs and resets included."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time

from tests.hostile import case_bytes, cases

CASES = {case["id"]: case for case in cases("http")}
SEEN: list[tuple[str, bool]] = []  # (case id, Authorization header present) for every request received
LONGEST_HANG = 25.0


def profile(case: dict, port: int) -> dict:
    """The provider that answers with a case. Only those that never end have a short deadline: a busy machine is slow too."""
    timeout = 1 if case["category"] == "slow" else 60
    return {
        "name": "hostile",
        "base_url": f"http://127.0.0.1:{port}/{case['id']}",
        "kind": "openrouter",
        "timeout": timeout,
    }


def start(port: int = 0) -> tuple[socket.socket, int]:
    server = socket.create_server(("127.0.0.1", port), backlog=128)
    threading.Thread(target=_accept, args=(server,), daemon=True).start()
    return server, server.getsockname()[1]


def _accept(server: socket.socket) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        threading.Thread(target=_handle, args=(connection,), daemon=True).start()


def _handle(connection: socket.socket) -> None:
    with connection:
        connection.settimeout(30)
        try:
            head = _read_request(connection)
            if head:
                _answer(connection, head)
        except OSError:
            pass  # the client hung up, as it should on most of these


def _read_request(connection: socket.socket) -> str:
    received = b""
    while b"\r\n\r\n" not in received:
        data = connection.recv(65536)
        if not data:
            return ""
        received += data
    head, _, rest = received.partition(b"\r\n\r\n")
    text = head.decode("latin1")
    length = next((int(line[15:]) for line in text.split("\r\n") if line.lower().startswith("content-length:")), 0)
    while len(rest) < length:
        data = connection.recv(65536)
        if not data:
            return ""
        rest += data
    return text


def _answer(connection: socket.socket, head: str) -> None:
    case_id = head.split(" ")[1].strip("/").split("/")[0]
    SEEN.append((case_id, "\r\nauthorization:" in head.lower()))
    case = CASES[case_id]
    data = case_bytes(case)
    if case["mode"] == "raw":
        connection.sendall(data)
    else:
        _play(connection, json.loads(data))


def _play(connection: socket.socket, script: dict) -> None:
    if script.get("accept_then") == "hang":
        connection.settimeout(LONGEST_HANG)
        connection.recv(1)  # ends as soon as the client gives up
        return
    if script.get("accept_then") == "reset":
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return
    body, total = script.get("body", "").encode(), script.get("total")
    headers = {"Content-Type": "application/json", "Connection": "close", "Content-Length": total or len(body)}
    lines = "".join(f"{name}: {value}\r\n" for name, value in {**headers, **script.get("headers", {})}.items())
    connection.sendall(f"HTTP/1.1 {script['status']} X\r\n{lines}\r\n".encode())
    if total:
        block = script["repeat"].encode() * 65536
        for _ in range(total // len(block)):
            connection.sendall(block)
        return
    step = script.get("bytes_per_write", len(body) or 1)
    for i in range(0, len(body), step):
        connection.sendall(body[i : i + step])
        time.sleep(script.get("delay", 0))
