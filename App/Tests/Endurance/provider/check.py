#!/usr/bin/env python3
"""Checks what the endurance run depends on: rotation, reuse detection, grace window, revocation, restart.

Starts the provider itself, several times, on free ports. Prints one line for each claim; exits 1 when one fails.
Needs the standard library only.
"""

import base64
import concurrent.futures
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
CREDENTIALS = base64.b64encode(b"endurance:endurance-only").decode()
# Long enough that only a provider that hangs reaches it.
STUCK = 300
failures = []


def claim(text, holds):
    print(("ok      " if holds else "FAILED  ") + text, flush=True)
    if not holds:
        failures.append(text)


class Provider:
    def __init__(self, description):
        self.description = description

    def send(self, path, form=None, headers=None):
        """The status, the header fields and the JSON of a response."""
        body = urllib.parse.urlencode(form).encode() if form is not None else None
        request = urllib.request.Request(self.description["issuer"] + path, data=body, headers=headers or {})
        try:
            response = urllib.request.urlopen(request, timeout=STUCK)
        except urllib.error.HTTPError as error:
            response = error
        with response:
            return response.status, response.headers, json.loads(response.read())

    def sign_in(self):
        return self.send("/sign-in", {"user": "ada"})[2]

    def refresh(self, token, credentials=CREDENTIALS):
        form = {"grant_type": "refresh_token", "refresh_token": token}
        return self.send("/token", form, {"Authorization": f"Basic {credentials}"})

    def resource(self, token):
        return self.send("/resource", headers={"Authorization": f"Bearer {token}"})

    def stats(self):
        return self.send("/stats")[2]


@contextlib.contextmanager
def provider(*arguments):
    process = subprocess.Popen([HERE / "start", *arguments], stdout=subprocess.PIPE, text=True)
    try:
        yield Provider(json.loads(process.stdout.readline()))
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(STUCK)
        process.stdout.close()


def refused(response):
    return response[0] == 400 and response[2]["error"] == "invalid_grant"


def check_rotation_and_reuse():
    with provider() as server:
        first = server.sign_in()
        status, headers, second = server.refresh(first["refresh_token"])
        claim(
            "a refresh rotates both tokens",
            status == 200 and not set(first.values()) & {second["access_token"], second["refresh_token"]},
        )
        claim("a token response is not stored by caches", headers["Cache-Control"] == "no-store")
        claim(
            "both access tokens work", all(server.resource(pair["access_token"])[0] == 200 for pair in (first, second))
        )
        bystander = server.sign_in()
        claim("a second use is refused", refused(server.refresh(first["refresh_token"])))
        claim("... and revokes the successor", refused(server.refresh(second["refresh_token"])))
        status, headers, _ = server.resource(second["access_token"])
        claim(
            "... and the access tokens, with invalid_token",
            status == 401 and headers["WWW-Authenticate"].startswith('Bearer error="invalid_token"'),
        )
        claim("... and no other session", server.refresh(bystander["refresh_token"])[0] == 200)
        claim("an unknown token is refused and is no reuse", refused(server.refresh("unknown")))
        claim("a client with a wrong secret is refused", server.refresh(bystander["refresh_token"], "eDp5")[0] == 401)
        stats = server.stats()
        expected = {
            "sign_ins": 2,
            "token_requests": 6,
            "rotations": 2,
            "reuses": 1,
            "refused": 4,
            "resource_ok": 2,
            "resource_refused": 1,
        }
        claim(f"the counters say so: {stats}", all(stats[name] == value for name, value in expected.items()))


def check_grace():
    with provider("--grace", "3600") as server:
        first = server.sign_in()
        pool = concurrent.futures.ThreadPoolExecutor(20)
        pairs = [pair for _, _, pair in pool.map(lambda _: server.refresh(first["refresh_token"]), range(20))]
        claim(
            "within the grace window 20 at once earn one result",
            len({(pair["access_token"], pair["refresh_token"]) for pair in pairs}) == 1,
        )
        stats = server.stats()
        claim("... by one rotation", (stats["rotations"], stats["grace_replays"], stats["reuses"]) == (1, 19, 0))
        server.refresh(pairs[0]["refresh_token"])
        claim(
            "a token older than the predecessor is reuse",
            refused(server.refresh(first["refresh_token"])) and server.stats()["reuses"] == 1,
        )
    with provider("--grace", "0.5") as server:
        first = server.sign_in()
        server.refresh(first["refresh_token"])
        start = time.monotonic()
        while (response := server.refresh(first["refresh_token"]))[0] == 200 and time.monotonic() - start < STUCK:
            pass
        claim("after the grace window the predecessor is reuse", refused(response) and server.stats()["reuses"] == 1)


def check_expiry_and_revocation():
    with provider("--access-lifetime", "1") as server:
        pair = server.sign_in()
        claim("the lifetime is that of the command line", pair["expires_in"] == 1)
        start = time.monotonic()
        while (response := server.resource(pair["access_token"]))[0] == 200 and time.monotonic() - start < STUCK:
            pass
        claim(
            "an expired access token is refused",
            response[0] == 401 and "invalid_token" in response[1]["WWW-Authenticate"],
        )
        claim("... and its refresh token is not", server.refresh(pair["refresh_token"])[0] == 200)
    with provider("--refresh-lifetime", "0") as server:
        claim("an expired refresh token is refused", refused(server.refresh(server.sign_in()["refresh_token"])))
    for kind in ("refresh_token", "access_token"):
        with provider() as server:
            pair = server.sign_in()
            status = server.send("/revoke", {"token": pair[kind]}, {"Authorization": f"Basic {CREDENTIALS}"})[0]
            ended = server.resource(pair["access_token"])[0] == 401 and refused(server.refresh(pair["refresh_token"]))
            claim(f"revocation by {kind} ends the session", status == 200 and ended)


def check_restart():
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["--store", os.path.join(folder, "provider.sqlite"), "--grace", "3600"]
        with provider(*arguments) as server:
            first = server.sign_in()
            second = server.refresh(first["refresh_token"])[2]
        with provider(*arguments) as server:
            again = server.refresh(first["refresh_token"])[2]
            claim(
                "sessions, grace and counters survive a restart",
                again["refresh_token"] == second["refresh_token"] and server.stats()["rotations"] == 1,
            )


if __name__ == "__main__":
    check_rotation_and_reuse()
    check_grace()
    check_expiry_and_revocation()
    check_restart()
    print(f"{len(failures)} failed")
    sys.exit(1 if failures else 0)
