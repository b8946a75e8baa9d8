"""A server of a strict profile, as AT Protocol prints it: PAR, PKCE, DPoP with nonces, private_key_jwt, rotation.

Nothing of it is ours but the order of the steps: keys, signatures, thumbprints and proofs are joserfc's (see proofs.py).
"""

import argparse
import base64
import hashlib
import json
import os
import secrets
import signal
import sys
import threading
import time
from urllib.parse import urlencode

from flask import Flask, jsonify, redirect, request
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import ECKey
from waitress import create_server

import proofs

ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
SCOPE = "resource"
REQUEST_LIFETIME = 60


class Refused(Exception):
    def __init__(self, error, status=400):
        super().__init__(error)
        self.error = error
        self.status = status


class Profile:
    def __init__(self, issuer, client_id, client_key, nonce_uses, access_lifetime):
        self.issuer = issuer
        self.client_id = client_id
        self.client_key = ECKey.import_key(client_key)
        self.nonce_uses = nonce_uses
        self.access_lifetime = access_lifetime
        self.lock = threading.Lock()
        self.nonce = secrets.token_urlsafe(18)
        self.uses = 0
        self.proof_identifiers = set()
        self.assertion_identifiers = set()
        self.requests = {}
        self.codes = {}
        self.families = {}
        self.access = {}
        self.refresh = {}
        self.counters = {}

    def count(self, name):
        self.counters[name] = self.counters.get(name, 0) + 1

    def use_nonce(self):
        """Counts a proof that was accepted. The nonce changes after some, and only a challenge names the new one."""
        self.uses += 1
        if self.uses >= self.nonce_uses:
            self.nonce, self.uses = secrets.token_urlsafe(18), 0

    def authenticate_client(self, form):
        """RFC 7523 section 3: an assertion for this issuer, which is used once."""
        if form.get("client_assertion_type") != ASSERTION or form.get("client_id", self.client_id) != self.client_id:
            raise Refused("invalid_client", 401)
        try:
            token = jwt.decode(form.get("client_assertion", ""), self.client_key, algorithms=["ES256"])
        except (JoseError, ValueError) as error:
            raise Refused("invalid_client", 401) from error
        claims, now = token.claims, time.time()
        is_valid = (
            claims.get("iss") == claims.get("sub") == self.client_id
            and claims.get("aud") in (self.issuer, [self.issuer])
            and isinstance(claims.get("jti"), str)
            and claims.get("exp", 0) > now > claims.get("iat", now + 99) - proofs.TOLERANCE
            and claims["exp"] - now < 600
        )
        if not is_valid or claims["jti"] in self.assertion_identifiers:
            raise Refused("invalid_client", 401)
        self.assertion_identifiers.add(claims["jti"])

    def prove(self, token=None, thumbprint=None):
        try:
            found = proofs.check(
                request.headers.getlist("DPoP"),
                request.method,
                self.issuer + request.full_path.rstrip("?"),
                token=token,
                thumbprint=thumbprint,
                seen=self.proof_identifiers,
                nonces=[self.nonce],
            )
        except proofs.NonceError as error:
            self.count("challenges")
            raise Refused("use_dpop_nonce") from error
        except proofs.ProofError as error:
            self.count("proofs_refused")
            print(f"a proof is refused: {error}", file=sys.stderr, flush=True)
            raise Refused("invalid_dpop_proof") from error
        self.use_nonce()
        return found

    def issue(self, family):
        access, refresh = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
        self.families[family]["refresh"] = refresh
        self.access[access] = (family, time.time() + self.access_lifetime)
        self.refresh[refresh] = family
        return {
            "access_token": access,
            "token_type": "DPoP",
            "expires_in": self.access_lifetime,
            "refresh_token": refresh,
            "scope": SCOPE,
        }

    def push(self, form):
        self.authenticate_client(form)
        thumbprint = self.prove()
        if form.get("dpop_jkt", thumbprint) != thumbprint:
            raise Refused("invalid_dpop_proof")
        needed = {"response_type": "code", "code_challenge_method": "S256"}
        if any(form.get(name) != value for name, value in needed.items()) or len(form.get("code_challenge", "")) != 43:
            raise Refused("invalid_request")
        if not form.get("redirect_uri", "").startswith("http://127.0.0.1:") or not form.get("state"):
            raise Refused("invalid_request")
        reference = "urn:ietf:params:oauth:request_uri:" + secrets.token_urlsafe(24)
        self.requests[reference] = (dict(form), thumbprint, time.time() + REQUEST_LIFETIME)
        self.count("pushed")
        return reference

    def authorize(self, query):
        form, thumbprint, expiry = self.requests.pop(query.get("request_uri"), ({}, None, 0))
        if expiry < time.time() or query.get("client_id") != self.client_id or set(query) != {"client_id", "request_uri"}:
            raise Refused("invalid_request")
        code = secrets.token_urlsafe(24)
        self.codes[code] = (form, thumbprint)
        return form["redirect_uri"] + "?" + urlencode({"code": code, "state": form["state"], "iss": self.issuer})

    def token(self, form):
        self.authenticate_client(form)
        thumbprint = self.prove()
        if form.get("grant_type") == "authorization_code":
            pushed, bound = self.codes.pop(form.get("code"), ({}, None))
            challenge = base64.urlsafe_b64encode(hashlib.sha256(form.get("code_verifier", "").encode()).digest())
            if (
                bound != thumbprint
                or pushed.get("redirect_uri") != form.get("redirect_uri")
                or pushed.get("code_challenge") != challenge.rstrip(b"=").decode()
            ):
                raise Refused("invalid_grant")
            family = secrets.token_hex(8)
            self.families[family] = {"thumbprint": thumbprint, "revoked": False}
            self.count("sign_ins")
            return self.issue(family)
        if form.get("grant_type") != "refresh_token":
            raise Refused("unsupported_grant_type")
        if not form.get("refresh_token"):
            raise Refused("invalid_request")
        family = self.families.get(self.refresh.get(form["refresh_token"]))
        if family is None or family["revoked"] or family["thumbprint"] != thumbprint:
            self.count("refused")
            raise Refused("invalid_grant")
        if family["refresh"] != form["refresh_token"]:
            family["revoked"] = True
            self.count("reuses")
            raise Refused("invalid_grant")
        self.count("rotations")
        return self.issue(self.refresh[form["refresh_token"]])

    def resource(self):
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        name, expiry = self.access.get(token, (None, 0))
        family = self.families.get(name)
        if scheme != "DPoP" or family is None:
            raise Refused("invalid_token", 401)
        self.prove(token=token, thumbprint=family["thumbprint"])
        if expiry < time.time() or family["revoked"]:
            raise Refused("invalid_token", 401)
        self.count("resource_ok")

    def expire(self):
        """Ends the access tokens, and no refresh token."""
        self.access = {token: (family, 0) for token, (family, _) in self.access.items()}

    def metadata(self):
        return {
            "issuer": self.issuer,
            "authorization_endpoint": self.issuer + "/authorize",
            "token_endpoint": self.issuer + "/token",
            "pushed_authorization_request_endpoint": self.issuer + "/par",
            "require_pushed_authorization_requests": True,
            "authorization_response_iss_parameter_supported": True,
            "code_challenge_methods_supported": ["S256"],
            "dpop_signing_alg_values_supported": proofs.ALGORITHMS,
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "response_types_supported": ["code"],
            "scopes_supported": [SCOPE],
            "token_endpoint_auth_methods_supported": ["private_key_jwt"],
            "token_endpoint_auth_signing_alg_values_supported": ["ES256"],
        }


def make_application(profile):
    application = Flask("strict")

    @application.errorhandler(Refused)
    def refused(error):
        response = jsonify(error=error.error)
        response.status_code = error.status
        if error.error == "use_dpop_nonce":
            response.headers["DPoP-Nonce"] = profile.nonce
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
            return jsonify(profile.token(request.form))

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


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--client-id", default="strict-client")
    parser.add_argument("--client-key", required=True, help="the public key of the client, as JSON")
    parser.add_argument("--nonce-uses", type=int, default=3, help="accepted proofs after which the nonce changes (3)")
    parser.add_argument("--access-lifetime", type=int, default=60, help="seconds an access token is valid (60)")
    options = parser.parse_args()
    application = Flask("starting")
    server = create_server(lambda *call: application(*call), host="127.0.0.1", port=0, threads=16, ident="strict")
    profile = Profile(
        f"http://127.0.0.1:{server.effective_port}", options.client_id, json.loads(options.client_key),
        options.nonce_uses, options.access_lifetime,
    )
    application = make_application(profile)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    print(json.dumps(profile.metadata() | {"client_id": options.client_id, "pid": os.getpid()}), flush=True)
    server.run()


if __name__ == "__main__":
    main()
