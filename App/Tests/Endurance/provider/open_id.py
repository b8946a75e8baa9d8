"""What stricter servers add: id tokens, clients with a key (RFC 7523), pushed authorization requests (RFC 9126)."""

import secrets
import time

from authlib.oauth2 import OAuth2Error
from authlib.oauth2.rfc6749.errors import InvalidClientError, InvalidRequestError
from authlib.oauth2.rfc7523 import JWTBearerClientAssertion
from authlib.oidc.core import UserInfo
from authlib.oidc.core.grants import OpenIDCode
from flask import jsonify, request
from joserfc.jwk import ECKey, RSAKey
from werkzeug.datastructures import ImmutableMultiDict

import sign_in

PUSHED_LIFETIME = 60
ASSERTION_LIFETIME = 60


class ServerKeys:
    """The key that signs id tokens. Another one takes its place when it is told to."""

    def __init__(self):
        self.rotate("ES256")

    def rotate(self, algorithm):
        parameters = {"kid": secrets.token_urlsafe(8), "use": "sig", "alg": algorithm}
        self.algorithm = algorithm
        self.key = (
            RSAKey.generate_key(2048, parameters) if algorithm == "RS256" else ECKey.generate_key("P-256", parameters)
        )

    def published(self):
        return {"keys": [self.key.as_dict(private=False)]}


class OpenID(OpenIDCode):
    """Adds an id token to the tokens of a sign-in, and of a refresh, whose scope has `openid`."""

    def __init__(self, keys, codes):
        super().__init__()
        self.keys, self.codes = keys, codes

    def exists_nonce(self, nonce, request):
        return any(code.nonce == nonce for code in self.codes.values())

    def resolve_client_private_key(self, client):
        return self.keys.key

    def get_client_algorithm(self, client):
        return self.keys.algorithm

    def get_encode_header(self, client):
        return {"alg": self.keys.algorithm, "kid": self.keys.key.kid}

    def get_client_claims(self, client):
        return {"iss": sign_in.issuer()}

    def generate_user_info(self, user, scope):
        return UserInfo(sub=user)


class KeyAuthentication(JWTBearerClientAssertion):
    """`private_key_jwt`: for the issuer, for a minute at most, once."""

    CLIENT_AUTH_METHOD = "private_key_jwt"

    def __init__(self):
        super().__init__(leeway=5)
        self.used = set()

    def get_audiences(self):
        return [sign_in.issuer()]

    def resolve_client_public_key(self, client):
        return client.key

    def verify_claims(self, claims):
        super().verify_claims(claims)
        if claims["aud"] != sign_in.issuer() or claims["exp"] - claims.get("iat", 0) > ASSERTION_LIFETIME:
            raise InvalidClientError(description="The assertion is for others, or valid for too long.")

    def validate_jti(self, claims, jti):
        if jti in self.used:
            return False
        self.used.add(jti)
        return True


class PushedRequests:
    """Authorization requests that were pushed, by their references."""

    def __init__(self):
        self.requests = {}

    def add(self, client):
        reference = f"urn:ietf:params:oauth:request_uri:{secrets.token_urlsafe(32)}"
        self.requests[reference] = (client, request.form.copy(), time.time() + PUSHED_LIFETIME)
        return jsonify(request_uri=reference, expires_in=PUSHED_LIFETIME), 201

    def take(self, must_push):
        """Puts the parameters of a reference in the place of the request's. What the user does stays in the query."""
        reference = request.args.get("request_uri")
        client = request.args.get("client_id")
        if reference is None:
            if must_push(client):
                raise InvalidRequestError("The request must be pushed.")
            return
        owner, form, end = self.requests.pop(reference, (None, None, 0))
        if owner is None or owner != client or time.time() >= end:
            raise InvalidRequestError("The reference is not valid.")
        if set(request.args) - {"client_id", "request_uri", "decision", "user"}:
            raise InvalidRequestError("A pushed request has its parameters beside it.")
        for name in ("decision", "user"):
            if name in request.args:
                form[name] = request.args[name]
        request._get_current_object().args = ImmutableMultiDict(form)


def register(application, server, store, keys, pushed):
    """Adds the endpoints for keys and pushed requests."""
    server.register_client_auth_method("private_key_jwt", KeyAuthentication())

    @application.get("/keys")
    def published_keys():
        return jsonify(keys.published())

    @application.post("/keys")
    def rotate_keys():
        """Another key, of the `algorithm` of the form."""
        with store.transaction():
            keys.rotate(request.form["algorithm"])
        return jsonify(keys.published())

    @application.post("/par")
    def push():
        with store.transaction():
            oauth2_request = server.create_oauth2_request(request)
            try:
                client = server.authenticate_client(oauth2_request, sign_in.METHODS, "par")
                if "request_uri" in request.form or request.form.get("client_id") != client.get_client_id():
                    raise InvalidRequestError("The request names another client or a reference.")
            except OAuth2Error as error:
                return server.handle_error_response(oauth2_request, error)
            return pushed.add(client.get_client_id())
