"""Drives a headless Chromium by the DevTools protocol over two pipes (--remote-debugging-pipe)."""

import json
import os
import select
import shutil
import subprocess
import tempfile
import time

# How long one command, or one event, may take.
LIMIT_SECONDS = 120


class Browser:
    """A browser with one page. Use it in a `with` statement."""

    def __init__(self):
        program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
        if program is None:
            raise SystemExit("there is no Chromium; run: .ci/setup chromium")
        self._profile = tempfile.mkdtemp(prefix="latchkey-browser-")
        commands, self._commands = os.pipe()
        self._events, events = os.pipe()

        def connect():
            # The browser reads commands on descriptor 3, and writes to 4.
            first, second = os.dup(commands), os.dup(events)
            os.dup2(first, 3)
            os.dup2(second, 4)

        self._process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
             "--remote-debugging-pipe", f"--user-data-dir={self._profile}", "--no-first-run", "about:blank"],
            preexec_fn=connect, pass_fds=(3, 4), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(commands)
        os.close(events)
        self._number = 0
        self._buffer = b""
        self._session = None
        self.problems = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()
        os.close(self._commands)
        os.close(self._events)
        shutil.rmtree(self._profile, ignore_errors=True)

    def call(self, method, **parameters):
        """Sends a command, and returns its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while True:
            response = self._receive()
            if response.get("id") == self._number:
                if "error" in response:
                    raise RuntimeError(f"{method}: {response['error']['message']}")
                return response["result"]
            self._note(response)

    def open(self, url):
        """Opens a page, and waits until it is loaded."""
        self.call("Page.navigate", url=url)
        while self._note(self._receive()) != "Page.loadEventFired":
            pass

    def run(self, script):
        """Runs a script in the page, and returns its value."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"].get("exception", {}).get("description", "an exception"))
        return result["result"].get("value")

    def resize(self, width, height=900):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def prefer(self, scheme):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def press(self, key, code=0, text=""):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code,
                      **({"text": text} if text and kind == "keyDown" else {}))

    def screenshot(self, path, whole=False):
        import base64
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def _receive(self):
        end = time.monotonic() + LIMIT_SECONDS
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._events], [], [], max(0, end - time.monotonic()))
            piece = os.read(self._events, 1 << 20) if ready else b""
            if not piece:
                raise RuntimeError("the browser has ended, or does not respond")
            self._buffer += piece
        message, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(message)

    def _note(self, event):
        """Keeps what a page must not have: errors in the console, and requests other than for the page."""
        method, details = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.problems.append("exception: " + details["exceptionDetails"].get("text", ""))
        elif method == "Runtime.consoleAPICalled" and details["type"] in ("error", "warning", "assert"):
            self.problems.append("console: " + str(details["args"]))
        elif method == "Log.entryAdded" and details["entry"]["level"] in ("error", "warning"):
            self.problems.append("log: " + details["entry"]["text"])
        elif method == "Network.requestWillBeSent" and details["type"] != "Document":
            self.problems.append("request: " + details["request"]["url"])
        elif method == "Page.javascriptDialogOpening":
            self.problems.append("dialog: " + details["message"])
            self.call("Page.handleJavaScriptDialog", accept=False)
        return method
