"""Checks the servers of the strict profile: one wrong call for each rule is refused by that rule, and a right one passes."""

import argparse
import base64
import hashlib
import secrets
import sys
import time
from urllib.parse import parse_qs, urlsplit

from joserfc import jwt
from joserfc.jwk import ECKey

import proofs
import strict_profile
from strict import make_application

ISSUER, RESOURCES = "http://127.0.0.1:1", "http://127.0.0.1:2"
REDIRECT = "http://127.0.0.1:9/callback"
VERIFIER = "v" * 43
failures = []


def claim(text, holds):
    print(("ok      " if holds else "FAILED  ") + text, flush=True)
    if not holds:
        failures.append(text)


class Session:
    """A client of both servers, with a key, and what it signs."""

    def __init__(self, **options):
        defaults = {"nonce_uses": 1_000, "nonce_lifetime": 0, "access_lifetime": 60, "repeats_by_key": False, "cut_every": 0, "delay": 0}
        self.client_key = ECKey.generate_key("P-256")
        public = ECKey.import_key(self.client_key.as_dict(private=False))
        self.profile = strict_profile.Profile(
            ISSUER, RESOURCES, "strict-client", public, argparse.Namespace(**defaults | options)
        )
        self.http = make_application(self.profile).test_client()
        self.key = ECKey.generate_key("P-256")
        self.nonces = {}

    def proof(self, method, url, changes=None, token=None, key=None):
        server = "{0.scheme}://{0.netloc}".format(urlsplit(url))
        claims = {
            "jti": secrets.token_urlsafe(16), "htm": method, "htu": url, "iat": int(time.time()),
            "ath": token and proofs.token_digest(token), "nonce": self.nonces.get(server),
        } | (changes or {})
        claims = {name: value for name, value in claims.items() if value is not None}
        key = key or self.key
        return jwt.encode({"typ": "dpop+jwt", "alg": "ES256", "jwk": key.as_dict(private=False)}, claims, key)

    def assertion(self, changes=None, key=None):
        now = int(time.time())
        claims = {
            "iss": "strict-client", "sub": "strict-client", "aud": ISSUER, "jti": secrets.token_urlsafe(16),
            "iat": now, "exp": now + 60,
        } | (changes or {})
        return jwt.encode({"alg": "ES256"}, claims, key or self.client_key)

    def post(self, path, form, proof=None, assertion=None, headers=None, **changes):
        """The response to a call, after the challenge for a nonce. A proof of the caller's is sent once, as it is."""
        for _ in range(1 if proof or changes.get("changes") else 2):
            sent = proof or self.proof("POST", ISSUER + path, **changes)
            form = {
                "client_id": "strict-client", "client_assertion_type": strict_profile.ASSERTION,
                "client_assertion": assertion or self.assertion(),
            } | form
            response = self.http.post(path, base_url=ISSUER, data=form, headers={"DPoP": sent} | (headers or {}))
            if not self.note(response, ISSUER):
                break
            del form["client_assertion"]
        return response

    def get(self, token, proof=None, **changes):
        for _ in range(1 if proof or changes.get("changes") else 2):
            sent = proof or self.proof("GET", RESOURCES + "/resource", token=token, **changes)
            response = self.http.get(
                "/resource", base_url=RESOURCES, headers={"DPoP": sent, "Authorization": f"DPoP {token}"}
            )
            if not self.note(response, RESOURCES):
                break
        return response

    def note(self, response, server):
        """Keeps the nonce of a challenge."""
        if "DPoP-Nonce" not in response.headers:
            return False
        self.nonces[server] = response.headers["DPoP-Nonce"]
        return True

    def pushed(self, **changes):
        digest = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
        form = {
            "response_type": "code", "redirect_uri": REDIRECT, "state": "s", "code_challenge": digest,
            "code_challenge_method": "S256",
        } | changes
        return self.post("/par", form)

    def code(self):
        query = {"client_id": "strict-client", "request_uri": self.pushed().json["request_uri"]}
        page = self.http.get("/authorize", base_url=ISSUER, query_string=query)
        return parse_qs(urlsplit(page.headers["Location"]).query)["code"][0]

    def exchange(self, code, verifier=VERIFIER, **options):
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": REDIRECT, "code_verifier": verifier}
        return self.post("/token", form, **options)

    def refresh(self, token, **options):
        return self.post("/token", {"grant_type": "refresh_token", "refresh_token": token}, **options)

    def count(self, name):
        return self.profile.counters.get(name, 0)


def is_refused(response, error):
    return response.status_code in (400, 401) and response.json["error"] == error


def check_sign_in():
    session = Session()
    claim("a request without PKCE is refused", is_refused(session.pushed(code_challenge=""), "invalid_request"))
    claim("a key that is not the proof's is refused", is_refused(session.pushed(dpop_jkt="o"), "invalid_dpop_proof"))
    query = {"client_id": "strict-client", "redirect_uri": REDIRECT}
    page = session.http.get("/authorize", base_url=ISSUER, query_string=query)
    claim("a request that was not pushed is refused", is_refused(page, "invalid_request"))
    claim("another verifier is refused", is_refused(session.exchange(session.code(), "o" * 43), "invalid_grant"))
    other = ECKey.generate_key("P-256")
    claim("a code of another key is refused", is_refused(session.exchange(session.code(), key=other), "invalid_grant"))
    code = session.code()
    claim("a code is exchanged", session.exchange(code).status_code == 200)
    claim("... once", is_refused(session.exchange(code), "invalid_grant"))
    used = session.assertion()
    session.post("/par", {}, assertion=used)
    for text, assertion in [
        ("a second use", used),
        ("another key", session.assertion(key=other)),
        ("another issuer", session.assertion({"aud": RESOURCES})),
        ("an old one", session.assertion({"exp": 1})),
    ]:
        refused = is_refused(session.post("/par", {}, assertion=assertion), "invalid_client")
        claim(f"an assertion of the client is refused: {text}", refused)


def check_proofs_of_calls():
    session = Session()
    tokens = session.exchange(session.code()).json
    access, refresh = tokens["access_token"], tokens["refresh_token"]
    other = ECKey.generate_key("P-256")
    claim("a request with its proof passes", session.get(access).status_code == 200)
    for rule, options in [
        ("htm", {"changes": {"htm": "PUT"}}),
        ("htu", {"changes": {"htu": ISSUER + "/other"}}),
        ("iat", {"changes": {"iat": 1}}),
        ("jti", {"changes": {"jti": "1"}}),
        ("ath", {"changes": {"ath": proofs.token_digest("other")}}),
        ("thumbprint", {"key": other}),
    ]:
        calls = [("a request", lambda: session.get(access, **options))]
        if rule != "thumbprint":
            calls.append(("a refresh", lambda: session.refresh(refresh, **options)))
        for text, call in calls:
            before = session.count("proofs_refused_" + rule)
            refused = is_refused(call(), "invalid_dpop_proof") and session.count("proofs_refused_" + rule) > before
            claim(f"{text} is refused by the rule {rule}", refused)
    proof = session.proof("GET", RESOURCES + "/resource", token=access)
    claim("a proof passes once", session.get(access, proof).status_code == 200)
    claim("... and not twice", is_refused(session.get(access, proof), "invalid_dpop_proof"))
    claim("... which is counted", session.count("proofs_refused_jti") == 3)
    claim("the nonce of the other server is none", "DPoP-Nonce" in session.get(
        access, changes={"nonce": session.nonces[ISSUER]}).headers)
    bearer = session.http.get("/resource", base_url=RESOURCES, headers={"Authorization": f"Bearer {access}"})
    claim("a bound token is no bearer token", is_refused(bearer, "invalid_token"))
    claim("a refresh with the proof of another key is refused", is_refused(
        session.refresh(refresh, key=other), "invalid_grant"))
    claim("nothing of it was spent", session.refresh(refresh).status_code == 200 and session.count("reuses") == 0)


def check_nonces():
    session = Session(nonce_uses=2)
    access = session.exchange(session.code()).json["access_token"]
    responses = [session.get(access).status_code for _ in range(6)]
    # The first call to each server has no nonce; the third and the fifth request have the one before.
    claim("a nonce changes after its uses", responses == [200] * 6 and session.count("challenges") == 2 + 2)
    session = Session(nonce_lifetime=3_600)
    access = session.exchange(session.code()).json["access_token"]
    nonces = session.profile.nonces[RESOURCES]
    hour = nonces.number()
    for ago, passes in [(0, True), (1, True), (2, False), (-1, False)]:
        status = session.get(access, changes={"nonce": nonces.nonce(hour - ago)}).status_code
        claim(f"with a lifetime, the nonce of {ago} lifetimes ago {'passes' if passes else 'is refused'}",
              (status == 200) == passes)


def check_rotation():
    session = Session()
    first = session.exchange(session.code()).json
    second = session.refresh(first["refresh_token"], headers={"Idempotency-Key": "k"}).json
    claim("a refresh rotates both tokens", not set(first.values()) & {second["access_token"], second["refresh_token"]})
    again = session.refresh(first["refresh_token"], headers={"Idempotency-Key": "k"})
    claim("a second use is refused, whatever its key", is_refused(again, "invalid_grant"))
    claim("... and revokes the successor", is_refused(session.refresh(second["refresh_token"]), "invalid_grant"))
    claim("... and the access tokens", is_refused(session.get(second["access_token"]), "invalid_token"))
    session = Session(repeats_by_key=True)
    first = session.exchange(session.code()).json
    second = session.refresh(first["refresh_token"], headers={"Idempotency-Key": "k"}).json
    again = session.refresh(first["refresh_token"], headers={"Idempotency-Key": "k"}).json
    claim("with repeats by key, the same key returns the same result", again == second)
    third = session.refresh(second["refresh_token"], headers={"Idempotency-Key": "l"}).json
    older = session.refresh(first["refresh_token"], headers={"Idempotency-Key": "k"})
    claim("... for the predecessor alone", is_refused(older, "invalid_grant") and session.count("reuses") == 1)
    session = Session(repeats_by_key=True)
    first = session.exchange(session.code()).json
    session.refresh(first["refresh_token"], headers={"Idempotency-Key": "k"})
    other = session.refresh(first["refresh_token"], headers={"Idempotency-Key": "l"})
    claim("... and another key is a second use", is_refused(other, "invalid_grant") and session.count("reuses") == 1)
    claim("the tokens of a family differ", third["refresh_token"] != second["refresh_token"])


if __name__ == "__main__":
    check_sign_in()
    check_proofs_of_calls()
    check_nonces()
    check_rotation()
    print(f"{len(failures)} failed")
    sys.exit(1 if failures else 0)
