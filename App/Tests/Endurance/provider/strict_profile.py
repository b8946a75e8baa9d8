"""The rules of a strict profile, as AT Protocol prints it: PAR, PKCE, DPoP with nonces, private_key_jwt, rotation.

Nothing of it is ours but the order of the steps: keys, signatures, thumbprints and proofs are joserfc's (see proofs.py).
"""

import base64
import hashlib
import hmac
import secrets
import sys
import threading
import time
from urllib.parse import urlencode

from flask import request
from joserfc import jwt
from joserfc.errors import JoseError

import proofs

ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
SCOPE = "resource"
REQUEST_LIFETIME = 60


class Refused(Exception):
    def __init__(self, error, status=400, nonce=None):
        super().__init__(error)
        self.error = error
        self.status = status
        self.nonce = nonce


class Nonces:
    """The nonces of one server. Only a challenge names the newest.

    With a lifetime they change in time, and the one before is accepted too, as for requests under way. Without, they
    change after a number of accepted proofs, and the newest alone is accepted.
    """

    def __init__(self, uses, lifetime):
        self.uses, self.lifetime = uses, lifetime
        self.key = secrets.token_bytes(32)
        self.used = 0

    def number(self):
        return int(time.monotonic() / self.lifetime) if self.lifetime else self.used // self.uses

    def nonce(self, number):
        return hmac.new(self.key, str(number).encode(), "sha256").hexdigest()

    def newest(self):
        return self.nonce(self.number())

    def accepted(self):
        number = self.number()
        return [self.nonce(number), self.nonce(number - 1)] if self.lifetime else [self.nonce(number)]

    def use(self):
        """Counts a proof that was accepted."""
        self.used += 1


class Profile:
    """An authorization server and a resource server, each with an origin and nonces of its own."""

    def __init__(self, issuer, resource_server, client_id, client_key, options):
        self.issuer = issuer
        self.resource_server = resource_server
        self.client_id = client_id
        self.client_key = client_key
        self.access_lifetime = options.access_lifetime
        self.repeats_by_key = options.repeats_by_key
        self.cut_every = options.cut_every
        self.delay = options.delay
        self.lock = threading.Lock()
        self.nonces = {
            server: Nonces(options.nonce_uses, options.nonce_lifetime) for server in (issuer, resource_server)
        }
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

    def prove(self, server, token=None, thumbprint=None):
        """Checks the proof of the request. Each rule that is broken has a counter of its own."""
        nonces = self.nonces[server]
        try:
            found = proofs.check(
                request.headers.getlist("DPoP"),
                request.method,
                server + request.full_path.rstrip("?"),
                token=token,
                thumbprint=thumbprint,
                seen=self.proof_identifiers,
                nonces=nonces.accepted(),
            )
        except proofs.NonceError as error:
            self.count("challenges")
            raise Refused("use_dpop_nonce", nonce=nonces.newest()) from error
        except proofs.ProofError as error:
            self.count("proofs_refused")
            self.count("proofs_refused_" + str(error).partition(":")[0])
            print(f"a proof for {request.path} is refused: {error}", file=sys.stderr, flush=True)
            raise Refused("invalid_dpop_proof") from error
        nonces.use()
        return found

    def issue(self, family, key=None):
        access, refresh = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
        response = {
            "access_token": access,
            "token_type": "DPoP",
            "expires_in": self.access_lifetime,
            "refresh_token": refresh,
            "scope": SCOPE,
        }
        found = self.families[family]
        found["rotation"] = (found.get("refresh"), key, response)
        found["refresh"] = refresh
        self.access[access] = (family, time.time() + self.access_lifetime)
        self.refresh[refresh] = family
        return response

    def push(self, form):
        self.authenticate_client(form)
        thumbprint = self.prove(self.issuer)
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
        thumbprint = self.prove(self.issuer)
        if form.get("grant_type") == "authorization_code":
            return self.exchange_code(form, thumbprint)
        if form.get("grant_type") != "refresh_token":
            raise Refused("unsupported_grant_type")
        if not form.get("refresh_token"):
            raise Refused("invalid_request")
        self.count("refreshes")
        name = self.refresh.get(form["refresh_token"])
        family = self.families.get(name)
        if family is None or family["revoked"] or family["thumbprint"] != thumbprint:
            self.count("refused")
            raise Refused("invalid_grant")
        key = request.headers.get("Idempotency-Key")
        if family["refresh"] != form["refresh_token"]:
            predecessor, used, response = family["rotation"]
            if self.repeats_by_key and key and (form["refresh_token"], key) == (predecessor, used):
                self.count("repeats_by_key")
                return response
            family["revoked"] = True
            self.count("reuses")
            raise Refused("invalid_grant")
        self.count("rotations")
        return self.issue(name, key)

    def exchange_code(self, form, thumbprint):
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

    def resource(self):
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        name, expiry = self.access.get(token, (None, 0))
        family = self.families.get(name)
        if scheme != "DPoP" or family is None:
            self.count("resource_refused")
            raise Refused("invalid_token", 401)
        self.prove(self.resource_server, token=token, thumbprint=family["thumbprint"])
        if expiry < time.time() or family["revoked"]:
            self.count("resource_refused")
            raise Refused("invalid_token", 401)
        self.count("resource_ok")
        if self.cut_every and self.counters["resource_ok"] % self.cut_every == 0:
            self.count("cuts")
            request.environ["strict.cut"] = True

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
