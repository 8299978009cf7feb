"""Chromium over its DevTools protocol, and a proxy that cuts connections. Standard library only."""

import base64
import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import threading
import time
import urllib.request

# The longest wait for anything. It bounds a test that hangs; no test measures time.
LIMIT = 120


def wait(what, condition):
    """Calls `condition` until it returns something true, and returns that."""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        result = condition()
        if result:
            return result
        time.sleep(0.02)
    raise AssertionError("waited in vain: " + what)


class WebSocket:
    """The client's side of a web socket, for texts."""

    def __init__(self, url):
        host, path = url.removeprefix("ws://").split("/", 1)
        name, port = host.rsplit(":", 1)
        self.socket = socket.create_connection((name, int(port)), timeout=LIMIT)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            (
                f"GET /{path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\n"
                f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
                "Sec-WebSocket-Version: 13\r\n\r\n"
            ).encode()
        )
        self.stream = self.socket.makefile("rb")
        if b" 101 " not in self.stream.readline():
            raise AssertionError("Chromium refused the web socket.")
        while self.stream.readline() != b"\r\n":
            pass

    def send(self, text):
        data = text.encode()
        mask = os.urandom(4)
        if len(data) < 126:
            head = struct.pack("!BB", 0x81, 0x80 | len(data))
        elif len(data) < 65536:
            head = struct.pack("!BBH", 0x81, 0xFE, len(data))
        else:
            head = struct.pack("!BBQ", 0x81, 0xFF, len(data))
        masked = bytes(byte ^ mask[index % 4] for index, byte in enumerate(data))
        self.socket.sendall(head + mask + masked)

    def receive(self):
        parts = []
        while True:
            first, second = self.stream.read(2)
            length = second & 0x7F
            if length == 126:
                (length,) = struct.unpack("!H", self.stream.read(2))
            elif length == 127:
                (length,) = struct.unpack("!Q", self.stream.read(8))
            data = self.stream.read(length)
            if first & 0x0F in (0, 1):
                parts.append(data)
                if first & 0x80:
                    return b"".join(parts).decode()


class Tab:
    """One page. Events that arrive are kept by their name."""

    def __init__(self, url):
        self.socket = WebSocket(url)
        self.number = 0
        self.events = []
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")

    def call(self, method, **parameters):
        self.number += 1
        self.socket.send(
            json.dumps({"id": self.number, "method": method, "params": parameters})
        )
        while True:
            message = json.loads(self.socket.receive())
            if message.get("id") == self.number:
                if "error" in message:
                    raise AssertionError(f"{method}: {message['error']}")
                return message["result"]
            self.events.append((message.get("method"), message.get("params", {})))

    def run(self, script):
        answer = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise AssertionError(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def named(self, name):
        """The events of that name so far."""
        self.run("0")
        return [parameters for method, parameters in self.events if method == name]

    def press(self, key, text=None):
        codes = {"Enter": 13, " ": 32, "Tab": 9}
        parameters = {"key": key, "windowsVirtualKeyCode": codes[key]}
        self.call(
            "Input.dispatchKeyEvent", type="keyDown", **parameters, **({"text": text} if text else {})
        )
        self.call("Input.dispatchKeyEvent", type="keyUp", **parameters)

    def show(self, width, height, scheme="light", motion="no-preference", scale=1):
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height,
            deviceScaleFactor=scale, mobile=False,
        )
        self.call(
            "Emulation.setEmulatedMedia",
            features=[
                {"name": "prefers-color-scheme", "value": scheme},
                {"name": "prefers-reduced-motion", "value": motion},
            ],
        )

    def screenshot(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))


class Browser:
    """A headless Chromium with an empty profile."""

    def __init__(self, program):
        self.profile = tempfile.mkdtemp()
        self.process = subprocess.Popen(
            [
                program, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
                "--disable-background-networking", "--disable-dev-shm-usage",
                "--remote-debugging-port=0", f"--user-data-dir={self.profile}", "about:blank",
            ],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        file = os.path.join(self.profile, "DevToolsActivePort")
        wait("Chromium starts", lambda: os.path.exists(file) and os.path.getsize(file) > 0)
        with open(file) as lines:
            self.port = int(lines.readline())

    def open(self, url):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/json/new?about:blank", method="PUT"
        )
        with urllib.request.urlopen(request, timeout=LIMIT) as answer:
            tab = Tab(json.load(answer)["webSocketDebuggerUrl"])
        tab.call("Page.navigate", url=url)
        return tab

    def close(self):
        self.process.terminate()
        self.process.wait(LIMIT)
        shutil.rmtree(self.profile, ignore_errors=True)


class Proxy:
    """Passes connections on to a port, until they are cut."""

    def __init__(self, port):
        self.target = port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.lock = threading.Lock()
        self.open = set()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            server = socket.create_connection(("127.0.0.1", self.target))
            with self.lock:
                self.open |= {client, server}
            for source, sink in ((client, server), (server, client)):
                threading.Thread(target=self.copy, args=(source, sink), daemon=True).start()

    def copy(self, source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            pass  # It was cut.
        with self.lock:
            for end in (source, sink):
                self.open.discard(end)
                self.end(end)

    def cut(self):
        """Ends all connections at once. Returns how many."""
        with self.lock:
            ends, self.open = self.open, set()
            for end in ends:
                self.end(end)
        return len(ends)

    @staticmethod
    def end(connection):
        try:
            connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # The other side was faster.
