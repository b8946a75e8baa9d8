"""The servers of a strict profile (see strict_profile.py) on loopback: an authorization server and a resource server."""

import argparse
import json
import os
import random
import signal
import sys
import threading
import time

from flask import Flask, jsonify, redirect, request
from joserfc.jwk import ECKey
from waitress import create_server
from waitress.channel import ClientDisconnected

from strict_profile import REQUEST_LIFETIME, Profile, Refused


def make_application(profile):
    application = Flask("strict")

    @application.errorhandler(Refused)
    def refused(error):
        response = jsonify(error=error.error)
        response.status_code = error.status
        if error.nonce:
            response.headers["DPoP-Nonce"] = error.nonce
        if request.path == "/resource":
            response.status_code = 401
            response.headers["WWW-Authenticate"] = f'DPoP error="{error.error}", algs="ES256"'
        return response

    @application.after_request
    def keep_out_of_caches(response):
        response.headers["Cache-Control"] = "no-store"
        return response

    @application.get("/.well-known/oauth-authorization-server")
    def metadata():
        return jsonify(profile.metadata())

    @application.post("/par")
    def push():
        with profile.lock:
            reference = profile.push(request.form)
        return jsonify(request_uri=reference, expires_in=REQUEST_LIFETIME), 201

    @application.get("/authorize")
    def authorize():
        with profile.lock:
            return redirect(profile.authorize(request.args))

    @application.post("/token")
    def token():
        with profile.lock:
            response = jsonify(profile.token(request.form))
        time.sleep(random.uniform(0, profile.delay))
        return response

    @application.get("/resource")
    def resource():
        with profile.lock:
            profile.resource()
        return jsonify(value=1)

    @application.post("/expire")
    def expire():
        with profile.lock:
            profile.expire()
        return jsonify({})

    @application.get("/counters")
    def counters():
        with profile.lock:
            return jsonify(profile.counters)

    return application


def cutting(application):
    """Closes the connection in place of a response, where the application asks for it."""

    def call(environ, start_response):
        response = application(environ, start_response)
        if environ.get("strict.cut"):
            raise ClientDisconnected
        return response

    return call


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--client-id", default="strict-client")
    parser.add_argument("--nonce-uses", type=int, default=3, help="accepted proofs after which a nonce changes (3)")
    parser.add_argument(
        "--nonce-lifetime",
        type=float,
        default=0,
        help="seconds after which a nonce changes, whatever its uses; the one before is then accepted too; 0 by default",
    )
    parser.add_argument("--access-lifetime", type=int, default=60, help="seconds an access token is valid (60)")
    parser.add_argument(
        "--repeats-by-key",
        action="store_true",
        help="the predecessor of the current refresh token, with the Idempotency-Key of its rotation, returns the same"
        " result again; by default every second use is taken for theft",
    )
    parser.add_argument(
        "--cut-every",
        type=int,
        default=0,
        help="requests to the resource after which a connection is closed in place of the response; 0, the default: none",
    )
    parser.add_argument(
        "--delay", type=float, default=0, help="seconds by which a response with tokens is late, at most; 0 by default"
    )
    return parser.parse_args()


def main():
    options = arguments()
    application = Flask("starting")
    servers = [
        create_server(lambda *call: application(*call), host="127.0.0.1", port=0, threads=16, ident="strict")
        for _ in range(2)
    ]
    issuer, resource_server = (f"http://127.0.0.1:{server.effective_port}" for server in servers)
    key = ECKey.generate_key("P-256")
    public = ECKey.import_key(key.as_dict(private=False))
    profile = Profile(issuer, resource_server, options.client_id, public, options)
    application = cutting(make_application(profile))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    threading.Thread(target=servers[1].run, daemon=True).start()
    start = profile.metadata() | {
        "resource_server": resource_server,
        "client_id": options.client_id,
        "client_key": key.as_pem(private=True).decode(),
        "pid": os.getpid(),
    }
    print(json.dumps(start), flush=True)
    servers[0].run()


if __name__ == "__main__":
    main()
