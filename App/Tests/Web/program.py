"""The programs under test: `articles serve` and `articles web`, in a home folder of their own."""
import json
import os
import re
import signal
import struct
import subprocess
import tempfile
import urllib.request
import zlib


class Programs:
    """A server with faults on demand, and the screens over it."""

    def __init__(self, articles):
        self.articles = articles
        self.home = tempfile.TemporaryDirectory(prefix="articles-home-")
        self.processes = []
        self.api = self._start(["serve", "--port", "0", "--dev"], r"Listening on (\S+);")
        self.url = self._start(["web", "--base-url", self.api, "--development-name", "Grace"], r"Open (\S+)")

    def _start(self, arguments, pattern):
        home = self.home.name
        environment = {
            "HOME": home, "XDG_STATE_HOME": f"{home}/state", "XDG_CONFIG_HOME": f"{home}/config",
            "XDG_CACHE_HOME": f"{home}/cache", "PATH": os.environ["PATH"], "TZ": "UTC",
        }
        process = subprocess.Popen([self.articles, *arguments], env=environment, stdout=subprocess.PIPE, text=True)
        self.processes.append(process)
        for line in process.stdout:
            found = re.match(pattern, line)
            if found:
                return found.group(1)
        raise RuntimeError(f"articles {arguments[0]} did not start")

    def post(self, path, body=None):
        """Calls `/dev` of the server."""
        data = json.dumps(body or {}).encode()
        request = urllib.request.Request(self.api + path, data, {"Content-Type": "application/json"})
        urllib.request.urlopen(request).read()

    def faults(self, *rules):
        """Sets the faults of the server."""
        self.post("/dev/faults", {"rules": [
            {"method": method, "path": path, "action": action} for method, path, action in rules]})

    def end_session(self):
        """Ends the session at the server: the next request is told so."""
        self.faults(("POST", "/auth/refresh", {"kind": "respond", "status": 401, "code": "REFRESH_TOKEN_REUSED"}))
        self.post("/dev/expire")

    def interrupt(self):
        """Ends both programs as Ctrl-C does, and returns their exit statuses."""
        for process in reversed(self.processes):
            process.send_signal(signal.SIGINT)
            process.wait(60)
        return [process.returncode for process in self.processes]

    def close(self):
        for process in self.processes:
            process.kill()
            process.wait()
        self.home.cleanup()


def portrait(path, size=480):
    """Draws a photo to upload: hills under a low sun, as a PNG."""
    rows = bytearray()
    for y in range(size):
        rows.append(0)
        for x in range(size):
            fx, fy = x / size, y / size
            near = 0.74 + 0.07 * ((fx * 3.1) % 1 - 0.5) ** 2 * 4 - 0.06 * fx
            far = 0.60 + 0.10 * (fx - 0.35) ** 2 * 4
            sun = (fx - 0.66) ** 2 + (fy - 0.42) ** 2
            if fy > near:
                color = (31, 63, 66)
            elif fy > far:
                color = (70, 112, 110)
            elif sun < 0.012:
                color = (255, 240, 205)
            else:
                color = (int(244 - 60 * (1 - fy)), int(196 - 20 * (1 - fy)), int(150 + 70 * (1 - fy)))
            rows += bytes(color)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(rows), 9)))
        file.write(chunk(b"IEND", b""))
