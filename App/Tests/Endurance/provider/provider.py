"""An OAuth 2.0 provider for tests: Authlib's server with sign-in, rotation and reuse detection, on loopback."""

import argparse
import json
import os
import secrets
import signal
import sys

# RFC 6749 asks for TLS. This provider listens on loopback only.
os.environ.setdefault("AUTHLIB_INSECURE_TRANSPORT", "1")

from authlib.integrations.flask_oauth2 import AuthorizationServer, ResourceProtector
from authlib.oauth2 import OAuth2Error
from authlib.oauth2.rfc6749 import ClientMixin, grants
from authlib.oauth2.rfc6750 import BearerTokenValidator
from authlib.oauth2.rfc7009 import RevocationEndpoint
from flask import Flask, jsonify, request
from waitress import create_server

import open_id
import sign_in
from joserfc.jwk import ECKey
from store import Store

SIGN_IN_GRANT = "test_sign_in"
SCOPE = "resource"


class Client(ClientMixin):
    """A registered client: with a secret or a key, or public without either (RFC 6749 section 2.1)."""

    def __init__(self, identifier, secret=None, key=None):
        self.identifier = identifier
        self.secret = secret
        self.key = key

    def get_client_id(self):
        return self.identifier

    def get_allowed_scope(self, scope):
        return scope if set(scope.split()) <= {SCOPE, "openid"} else ""

    def check_client_secret(self, client_secret):
        return self.secret is not None and secrets.compare_digest(self.secret, client_secret)

    def check_endpoint_auth_method(self, method, endpoint):
        if self.key:
            return method == "private_key_jwt"
        return method in ("client_secret_basic", "client_secret_post") if self.secret else method == "none"

    def check_grant_type(self, grant_type):
        return grant_type in sign_in.GRANTS

    def check_response_type(self, response_type):
        return response_type == "code"

    def check_redirect_uri(self, redirect_uri):
        return sign_in.is_loopback_redirect(redirect_uri)

    def get_default_redirect_uri(self):
        return None


class Extensions:
    """What stricter servers add to the sign-in."""

    def __init__(self, clients):
        self.clients = clients
        self.codes = {}
        self.keys = open_id.ServerKeys()
        self.open_id = open_id.OpenID(self.keys, self.codes)
        self.pushed = open_id.PushedRequests()

    def must_push(self, client):
        """RFC 9126 section 6: a client with a key is registered so."""
        return client in self.clients and self.clients[client].key is not None


def refresh_grant(store):
    class RotatingRefreshTokenGrant(grants.RefreshTokenGrant):
        TOKEN_ENDPOINT_AUTH_METHODS = sign_in.METHODS
        INCLUDE_NEW_REFRESH_TOKEN = True

        def authenticate_refresh_token(self, refresh_token):
            return store.redeem(refresh_token)

        def authenticate_user(self, refresh_token):
            return refresh_token.user

        def issue_token(self, user, refresh_token):
            if refresh_token.successor is None:
                return super().issue_token(user, refresh_token)
            issued = store.find_access_token(refresh_token.successor["access_token"])
            return refresh_token.successor | {"expires_in": issued.get_expires_in()}

        def save_token(self, token):
            old = self.request.refresh_token
            if old.successor is not None:
                store.count("grace_replays")
                return
            store.insert(old.family, token)
            store.rotate(old, token)
            store.count("rotations")

        def revoke_old_credential(self, refresh_token):
            """Does nothing: `save_token` has marked the old token as rotated."""

    return RotatingRefreshTokenGrant


def revocation_endpoint(store):
    class FamilyRevocationEndpoint(RevocationEndpoint):
        CLIENT_AUTH_METHODS = sign_in.METHODS

        def query_token(self, token_string, token_type_hint):
            return store.find(token_string)

        def revoke_token(self, token, request):
            store.revoke(token)
            store.count("revocations")

    return FamilyRevocationEndpoint


def resource_protector(store):
    class StoredBearerTokenValidator(BearerTokenValidator):
        def authenticate_token(self, token_string):
            return store.find_access_token(token_string)

    protector = ResourceProtector()
    protector.register_token_validator(StoredBearerTokenValidator())
    return protector


def make_application(store, clients, access_lifetime):
    application = Flask("provider")
    application.config["OAUTH2_REFRESH_TOKEN_GENERATOR"] = True
    application.config["OAUTH2_TOKEN_EXPIRES_IN"] = dict.fromkeys([*sign_in.GRANTS, SIGN_IN_GRANT], access_lifetime)
    client = clients[0]
    by_identifier = {client.identifier: client for client in clients}
    server = AuthorizationServer(application, query_client=by_identifier.get)
    extensions = Extensions(by_identifier)
    server.register_grant(refresh_grant(store), [extensions.open_id])
    server.register_endpoint(revocation_endpoint(store))
    sign_in.register(application, server, store, extensions)
    open_id.register(application, server, store, extensions.keys, extensions.pushed)
    protector = resource_protector(store)

    @application.post("/sign-in")
    def sign_in_user():
        """A first token pair for a test user, without authentication."""
        user = request.form.get("user", "user")
        with store.transaction():
            response = server.generate_token(SIGN_IN_GRANT, client, user=user, scope=SCOPE)
            store.insert(store.start_family(user, client.identifier), response)
            store.count("sign_ins")
        return jsonify(response), 200, {"Cache-Control": "no-store"}

    @application.post("/token")
    def token():
        with store.transaction():
            store.count("token_requests")
            response = server.create_token_response()
            if response.status_code >= 400:
                store.count("refused")
        return response

    @application.post("/revoke")
    def revoke():
        with store.transaction():
            return server.create_endpoint_response(RevocationEndpoint.ENDPOINT_NAME)

    @application.get("/resource")
    def resource():
        try:
            token = protector.acquire_token()
        except OAuth2Error as error:
            with store.transaction():
                store.count("resource_refused")
            protector.raise_error_response(error)
        with store.transaction():
            store.count("resource_ok")
        return jsonify(user=token.user)

    @application.get("/stats")
    def stats():
        return jsonify(store.statistics())

    @application.get("/.well-known/oauth-authorization-server")
    def metadata():
        return jsonify(sign_in.description(sign_in.issuer()))

    return application


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="loopback port; 0, the default, takes a free one")
    parser.add_argument("--store", default=":memory:", help="SQLite file; in memory by default")
    parser.add_argument("--access-lifetime", type=int, default=60, help="seconds an access token is valid (60)")
    parser.add_argument("--refresh-lifetime", type=int, default=86400, help="seconds a refresh token is valid (86400)")
    parser.add_argument(
        "--grace",
        type=float,
        default=0,
        help="seconds after its rotation in which the predecessor of the current refresh token returns the same result"
        " again; 0, the default, takes every second use for theft",
    )
    parser.add_argument("--client-id", default="endurance")
    parser.add_argument("--client-secret", default="endurance-only")
    return parser.parse_args()


def main():
    options = arguments()
    store = Store(options.store, options.refresh_lifetime, options.grace)
    client = Client(options.client_id, options.client_secret)
    public = Client(f"{options.client_id}-public")
    key = ECKey.generate_key("P-256")
    with_key = Client(f"{options.client_id}-key", key=ECKey.import_key(key.as_dict(private=False)))
    application = make_application(store, [client, public, with_key], options.access_lifetime)
    # Waitress keeps connections alive, as providers do, and does not log requests.
    server = create_server(application, host="127.0.0.1", port=options.port, threads=16, ident="provider")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    start = sign_in.description(f"http://127.0.0.1:{server.effective_port}") | {
        "client_id": client.identifier,
        "client_key": key.as_pem(private=True).decode(),
        "pid": os.getpid(),
    }
    print(json.dumps(start), flush=True)
    server.run()


if __name__ == "__main__":
    main()
