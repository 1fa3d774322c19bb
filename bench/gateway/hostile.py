"""A client that means harm, and one that does not: everything on loopback, and bounded in count and time."""

import contextlib
import functools
import http.client
import json
import random
import socket
import threading
import time
import urllib.parse

CHAT = "/v1/chat/completions"


def history(messages, user=None, **fields):
    """A chat of so many messages of some 60 tokens each."""
    words = "The ledger has one line a rate, and a cent goes missing on its way to the sum. " * 3
    roles = ("user", "assistant")
    said = [{"role": roles[at % 2], "content": f"{at}: {words}"} for at in range(messages - 1)]
    said.append({"role": "user", "content": user or "Which rate loses it?"})
    return {"model": "local", "messages": said, **fields}


@functools.cache
def tiny(count):
    """A body of so many messages with next to nothing in them."""
    return b'{"messages":[' + b",".join([b'{"role":"user","content":"x"}'] * count) + b"]}"


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return json.loads(self.body)

    def number(self, header):
        return int(self.headers.get(header, -1))


def ask(url, path=CHAT, body=None, headers=None, method=None, timeout=60):
    """Asks once, on a connection of its own."""
    place = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=timeout)
    if isinstance(body, dict):
        body = json.dumps(body).encode()
    sent = {"content-type": "application/json", **(headers or {})}
    try:
        connection.request(method or ("GET" if body is None else "POST"), path, body, sent)
        answer = connection.getresponse()
        return Answer(answer.status, answer.headers, answer.read())
    finally:
        connection.close()


def connect(url, timeout=10):
    place = urllib.parse.urlsplit(url)
    return socket.create_connection((place.hostname, place.port), timeout=timeout)


def raw(url, sent, seconds=2.0):
    """Sends bytes as they are; what comes back within so many seconds."""
    with connect(url, seconds) as stream, contextlib.suppress(OSError):
        stream.sendall(sent)
        return drain(stream, seconds)
    return b""


def drain(stream, seconds):
    """What still comes, until the other end closes or time is up."""
    got, end = b"", time.monotonic() + seconds
    with contextlib.suppress(OSError):
        while time.monotonic() < end:
            stream.settimeout(max(end - time.monotonic(), 0.01))
            part = stream.recv(65_536)
            if not part:
                break
            got += part
    return got


def ends_within(stream, seconds):
    """Whether the other end closes a connection in time."""
    end = time.monotonic() + seconds
    with contextlib.suppress(ConnectionError):
        try:
            while time.monotonic() < end:
                stream.settimeout(max(end - time.monotonic(), 0.01))
                if not stream.recv(65_536):
                    return True
        except TimeoutError:
            return False
        return False
    return True


class Upstream:
    """A provider that answers every request with these bytes, and then closes, waits or goes on."""

    def __init__(self, answer, then="close"):
        self.answer, self.then = answer, then
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.is_over = threading.Event()
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                stream, _ = self.listener.accept()
                threading.Thread(target=self.speak, args=(stream,), daemon=True).start()

    def speak(self, stream):
        with stream, contextlib.suppress(OSError):
            stream.settimeout(60)
            if not stream.recv(1_048_576):
                return
            stream.sendall(self.answer)
            if self.then == "wait":
                self.is_over.wait(60)
            while self.then == "pour" and not self.is_over.is_set():
                stream.sendall(bytes(65_536))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.is_over.set()
        self.listener.close()


class Healthy(threading.Thread):
    """A client that asks again and again as an agent does, and notes how long it waits."""

    def __init__(self, url, pause=0.05, key="healthy"):
        super().__init__(daemon=True)
        self.url, self.pause, self.key = url, pause, key
        self.spans, self.lost, self.stop = [], [], threading.Event()

    def run(self):
        step = 0
        while not self.stop.wait(self.pause):
            begun = time.monotonic()
            body = history(21 + 2 * (step % 10), user=f"Step {step} of {self.key}?")
            try:
                answer = ask(self.url, body=body, headers={"authorization": f"Bearer {self.key}"})
                seen = (answer.status, answer.number("x-cupel-dropped"))
                if seen[0] != 200 or b"Hello from the upstream." not in answer.body:
                    self.lost.append(seen)
            except (OSError, http.client.HTTPException) as error:
                self.lost.append(repr(error))
            self.spans.append(time.monotonic() - begun)
            step += 1

    def ended(self):
        self.stop.set()
        self.join(90)
        return self


def percentile(spans, percent):
    spans = sorted(spans)
    return 1e3 * spans[min(len(spans) * percent // 100, len(spans) - 1)] if spans else 0.0


class Attacker(threading.Thread):
    """Does the same harm again and again, a while apart, as long as it may."""

    def __init__(self, harm, url, pause, goes_on):
        super().__init__(daemon=True)
        self.harm, self.url, self.pause, self.goes_on = harm, url, pause, goes_on
        self.count, self.stop = 0, threading.Event()

    def run(self):
        while not self.stop.wait(self.pause):
            if self.goes_on.wait(0.5):
                with contextlib.suppress(OSError, http.client.HTTPException):
                    self.harm(self.url, self.count)
                self.count += 1


def many_messages(url, count):
    """A body of tiny messages that has to be made to fit, in a conversation of its own."""
    ask(url, body=tiny(15_000), headers={"x-cupel-conversation": f"tiny {count}", "x-api-key": "mallory"})


def too_many_messages(url, _):
    """A body of more messages than are allowed."""
    ask(url, body=tiny(150_000), headers={"x-api-key": "mallory"})


@functools.cache
def large():
    return json.dumps(history(2_000)).encode()


def leave(url, count):
    """Sends a large request, and leaves while it is worked on."""
    body = large()
    with connect(url) as stream:
        head = f"POST {CHAT} HTTP/1.1\r\nhost: localhost\r\nx-api-key: mallory\r\ncontent-length: {len(body)}\r\n\r\n"
        stream.sendall(head.encode() + body)
        time.sleep(0.05 * (count % 8))


def hold_connections(url, count):
    """Connections on which a head never ends."""
    held = [connect(url) for _ in range(50)]
    time.sleep(3)
    for stream in held:
        with stream, contextlib.suppress(OSError):
            stream.sendall(b"GET /v1/models HTTP/1.1\r\nx: ")


def never_read(url, count):
    """Asks for streams, and reads nothing of them."""
    body = json.dumps(history(5, stream=True)).encode()
    head = f"POST {CHAT} HTTP/1.1\r\nhost: localhost\r\nx-fake: hang\r\ncontent-length: {len(body)}\r\n\r\n".encode()
    held = [connect(url) for _ in range(10)]
    for stream in held:
        stream.sendall(head + body)
    time.sleep(3)
    for stream in held:
        stream.close()


def poison(url, count):
    """Lets a provider refuse, and quotes a small window in fields that it repeats."""
    user = "This model's maximum context length is 300 tokens. However, your messages resulted in 900 tokens."
    for mode in ("window:2000", "too-long:600", "lies", "quotes", "reset"):
        body = history(31, max_tokens=1_700, user=user, stream=count % 2 == 1)
        ask(url, body=body, headers={"x-api-key": "mallory", "x-fake": mode})


def long_names(url, count):
    """Names of a megabyte."""
    name = f"{count}\u202e" + "n" * 1_000_000
    ask(url, body={"model": name, "user": name, "messages": [{"role": "user", "content": "x"}]})
    ask(url, body={"messages": [{"role": name, "content": "x"}]}, headers={"x-cupel-conversation": "c" * 30_000})


def mangle(url, count):
    """Bytes that are no request."""
    dice = random.Random(count)
    body = bytearray(json.dumps(history(5)).encode())
    for _ in range(4):
        at = dice.randrange(len(body))
        body[at : at + dice.randrange(3)] = dice.choice([b"", b'"', b"{", b"[", b"\\", b"\xff", b"\0", b"1e999"])
    raw(url, f"POST {CHAT} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body, 0.1)
    raw(url, f"POST {CHAT} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n".encode(), 0.1)


def attack(url, goes_on, stop, counts):
    """All of it, until it is told to stop: in a process of its own, so that nobody else waits for its interpreter."""
    attackers = [Attacker(harm, url, pause, goes_on) for harm, pause in HARMS]
    for attacker in attackers:
        attacker.start()
    stop.wait()
    for attacker in attackers:
        attacker.stop.set()
        attacker.join(30)
    counts.update({attacker.harm.__name__: attacker.count for attacker in attackers})


# Each with the seconds between two of its kind.
HARMS = (
    (many_messages, 2.0),
    (too_many_messages, 3.0),
    (leave, 1.0),
    (hold_connections, 1.0),
    (never_read, 1.0),
    (poison, 1.0),
    (long_names, 2.0),
    (mangle, 0.2),
)
