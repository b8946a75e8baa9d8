"""Chromium over its pipe (the DevTools protocol): pages, keys, pictures, and what went wrong on a page."""
import base64
import json
import os
import shutil
import subprocess
import tempfile
import threading
import time

# The longest wait for anything, in seconds: a machine under load is slow, and a page that never comes ends the run.
LIMIT = int(os.environ.get("LIMIT", 180))


class Chromium:
    """A headless browser with a profile of its own."""

    def __init__(self):
        names = (os.environ.get("CHROMIUM"), "chromium", "chromium-browser", "google-chrome")
        program = next(filter(None, (shutil.which(name) for name in names if name)), None)
        if program is None:
            raise SystemExit("there is no Chromium; run: .ci/setup chromium")
        self.profile = tempfile.TemporaryDirectory(prefix="articles-web-", ignore_cleanup_errors=True)
        to_browser, self.to_browser = os.pipe()
        self.from_browser, from_browser = os.pipe()

        def connect():
            # The browser reads descriptor 3 and writes 4. Copies above both, so that neither overwrites the other.
            reading, writing = os.dup(to_browser), os.dup(from_browser)
            os.dup2(reading, 3)
            os.dup2(writing, 4)

        arguments = [
            program, "--headless", "--no-sandbox", "--remote-debugging-pipe",
            "--disable-gpu", "--hide-scrollbars", "--force-color-profile=srgb", "--no-first-run", "--disable-sync",
            "--disable-background-networking", "--disable-dev-shm-usage", f"--user-data-dir={self.profile.name}",
            "about:blank",
        ]
        self.process = subprocess.Popen(
            arguments, close_fds=False, preexec_fn=connect,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.count = 0
        self.replies = {}
        self.condition = threading.Condition()
        self.handlers = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        pending = b""
        while True:
            piece = os.read(self.from_browser, 1 << 20)
            if not piece:
                return
            pending += piece
            *messages, pending = pending.split(b"\0")
            for message in messages:
                message = json.loads(message)
                with self.condition:
                    if "id" in message:
                        self.replies[message["id"]] = message
                    else:
                        for handler in self.handlers:
                            handler(message)
                    self.condition.notify_all()

    def call(self, method, session=None, **parameters):
        """Calls a method of the protocol, and returns its result."""
        with self.condition:
            self.count += 1
            number = self.count
        message = {"id": number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.to_browser, json.dumps(message).encode() + b"\0")
        with self.condition:
            if not self.condition.wait_for(lambda: number in self.replies, LIMIT):
                raise TimeoutError(method)
            reply = self.replies.pop(number)
        if "error" in reply:
            raise RuntimeError(f"{method}: {reply['error'].get('message')}")
        return reply["result"]

    def tab(self, **settings):
        """Opens a tab in a context of its own, or in that of another tab."""
        return Tab(self, **settings)

    def close(self):
        """Ends the browser."""
        try:
            self.call("Browser.close")
        except Exception:
            self.process.kill()
        self.process.wait(LIMIT)
        self.profile.cleanup()


class Tab:
    """A page of the browser. `problems` has each message of the console, each failed request, each violation and each
    dialog; `requests` has the URLs that the pages have loaded, without their own."""

    def __init__(self, browser, width=1000, height=900, dark=False, language="en-GB", script=True, context=None):
        self.browser = browser
        self.problems = []
        self.requests = []
        self.context = context or browser.call("Target.createBrowserContext")["browserContextId"]
        self.target = browser.call("Target.createTarget", url="about:blank", browserContextId=self.context)["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        browser.handlers.append(self._handle)
        for domain in ["Page", "Runtime", "Log", "Network", "Audits"]:
            self.call(f"{domain}.enable")
        self.call("Network.setExtraHTTPHeaders", headers={"Accept-Language": language})
        self.call("Emulation.setScriptExecutionDisabled", value=not script)
        self.look(width, height, dark)

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def _handle(self, message):
        if message.get("sessionId") != self.session:
            return
        parameters = message["params"]
        if message["method"] == "Runtime.consoleAPICalled":
            self.problems.append(f"console: {[a.get('value') for a in parameters['args']]}")
        elif message["method"] == "Runtime.exceptionThrown":
            self.problems.append(f"exception: {parameters['exceptionDetails'].get('exception', {}).get('description')}")
        elif message["method"] == "Log.entryAdded":
            entry = parameters["entry"]
            self.problems.append(f"{entry['source']}: {entry['text']} {entry.get('url', '')}")
        elif message["method"] == "Audits.issueAdded":
            issue = parameters["issue"]
            self.problems.append(f"issue: {issue['code']} {json.dumps(issue['details'])[:300]}")
        elif message["method"] == "Network.requestWillBeSent" and parameters["type"] != "Document":
            self.requests.append(parameters["request"]["url"])
        elif message["method"] == "Page.javascriptDialogOpening":
            self.problems.append(f"dialog: {parameters['message']}")
            # Not here: the reply is read by the thread that calls this.
            dismiss = {"method": "Page.handleJavaScriptDialog", "accept": False}
            threading.Thread(target=self.call, kwargs=dismiss, daemon=True).start()

    def look(self, width=1000, height=900, dark=False, mobile=None):
        """Sets the size of the window and the colour scheme. By default a narrow window is that of a phone."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
            mobile=width < 600 if mobile is None else mobile)
        scheme = "dark" if dark else "light"
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"}])

    def open(self, url):
        """Loads a page."""
        self.call("Page.navigate", url=url)
        self.until("document.readyState === 'complete' && location.href !== 'about:blank'")

    def run(self, expression):
        """Evaluates an expression, and returns its value."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def until(self, expression):
        """Waits until an expression is true, and returns its value."""
        end = time.monotonic() + LIMIT
        while True:
            try:
                value = self.run(f"(() => {{ const value = {expression}; return value instanceof Node || value; }})()")
                if value:
                    return value
            except RuntimeError:
                pass  # The page is being replaced.
            if time.monotonic() > end:
                raise TimeoutError(f"never true: {expression}\n{self.run('document.body.innerText')}")
            time.sleep(0.02)

    def shows(self, text):
        """Waits until the page shows a text."""
        self.until(f"document.body.innerText.includes({json.dumps(text)})")

    def complete(self):
        """Waits until the page and its style are loaded."""
        self.until("document.readyState === 'complete'")

    def arrives(self, path):
        """Waits until the page of a path is loaded."""
        self.until(f"location.pathname === {json.dumps(path)} && document.readyState === 'complete'")

    def click(self, selector):
        """Clicks in the middle of an element, as a mouse does."""
        box = self.until(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            "if (!e || document.readyState !== 'complete') return null; e.scrollIntoView({ block: 'center' });"
            "const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()")
        for kind in ["mousePressed", "mouseReleased"]:
            self.call("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)

    def load(self, selector):
        """Clicks, and waits until another page is loaded."""
        self.run("window.isOld = true")
        self.click(selector)
        self.until("!window.isOld && document.readyState === 'complete'")

    def key(self, name, text=None):
        """Presses a key."""
        codes = {"Tab": 9, "Enter": 13}
        parameters = {"key": name, "code": name, "windowsVirtualKeyCode": codes[name]}
        if name == "Enter":
            parameters["text"] = "\r"
        self.call("Input.dispatchKeyEvent", type="keyDown", **parameters)
        self.call("Input.dispatchKeyEvent", type="keyUp", **{k: v for k, v in parameters.items() if k != "text"})

    def type(self, text):
        """Types into the element that has the focus."""
        self.call("Input.insertText", text=text)

    def choose(self, selector, path):
        """Chooses a file, as the dialog of the browser does."""
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", nodeId=node, files=[path])

    def close(self):
        """Closes the tab."""
        self.browser.call("Target.closeTarget", targetId=self.target)

    def picture(self, path):
        """Saves a picture of the window."""
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
