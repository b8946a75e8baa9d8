"""The provider's sign-in: authorization code with PKCE (RFC 7636), device code (RFC 8628), and their metadata."""

import time
from urllib.parse import urlsplit

from authlib.oauth2 import OAuth2Error
from authlib.oauth2.rfc6749 import AuthorizationCodeMixin, grants
from authlib.oauth2.rfc6749.errors import InvalidRequestError
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oauth2.rfc8628 import DeviceAuthorizationEndpoint, DeviceCodeGrant, DeviceCredentialDict
from authlib.oauth2.rfc9207 import IssuerParameter
from flask import jsonify, request

METHODS = ["client_secret_basic", "client_secret_post", "private_key_jwt", "none"]
GRANTS = ["authorization_code", DeviceCodeGrant.GRANT_TYPE, "refresh_token"]
CODE_LIFETIME = 60
DEVICE_LIFETIME = 600
DEVICE_INTERVAL = 1


def is_loopback_redirect(uri):
    """RFC 8252 section 7.3: any port of 127.0.0.1, one path."""
    parts = urlsplit(uri)
    return parts.scheme == "http" and parts.hostname == "127.0.0.1" and parts.path == "/callback"


class Code(AuthorizationCodeMixin):
    """An issued authorization code, with what the authorization request bound it to."""

    def __init__(self, request, user):
        self.client = request.client.get_client_id()
        self.user = user
        self.scope = request.payload.scope
        self.redirect_uri = request.payload.redirect_uri
        self.nonce = request.payload.data.get("nonce")
        self.code_challenge = request.payload.data.get("code_challenge")
        self.code_challenge_method = request.payload.data.get("code_challenge_method")
        self.expires_at = time.time() + CODE_LIFETIME

    def get_redirect_uri(self):
        return self.redirect_uri

    def get_scope(self):
        return self.scope

    def get_nonce(self):
        return self.nonce

    def get_auth_time(self):
        return None

    def get_acr(self):
        return None

    def get_amr(self):
        return None


class S256Challenge(CodeChallenge):
    DEFAULT_CODE_CHALLENGE_METHOD = None
    SUPPORTED_CODE_CHALLENGE_METHOD = ["S256"]

    def validate_code_challenge(self, grant, redirect_uri):
        super().validate_code_challenge(grant, redirect_uri)
        if not grant.request.payload.data.get("code_challenge_method"):
            raise InvalidRequestError("Missing 'code_challenge_method'", redirect_uri=redirect_uri)


def code_grant(store, codes):
    class CodeGrant(grants.AuthorizationCodeGrant):
        TOKEN_ENDPOINT_AUTH_METHODS = METHODS

        def save_authorization_code(self, code, request):
            codes[code] = Code(request, request.user)

        def query_authorization_code(self, code, client):
            found = codes.get(code)
            if found and found.client == client.get_client_id() and time.time() < found.expires_at:
                return found
            return None

        def delete_authorization_code(self, authorization_code):
            for code in [code for code, found in codes.items() if found is authorization_code]:
                del codes[code]

        def authenticate_user(self, authorization_code):
            return authorization_code.user

        def save_token(self, token):
            store.insert(store.start_family(self.request.user, self.request.client.get_client_id()), token)
            store.count("sign_ins")

    return CodeGrant


def device_grant(store, devices):
    class StoredDeviceCodeGrant(DeviceCodeGrant):
        TOKEN_ENDPOINT_AUTH_METHODS = METHODS

        def query_device_credential(self, device_code):
            return devices.get(device_code)

        def query_user_grant(self, user_code):
            return next(
                (found["decision"] for found in devices.values() if found["user_code"] == user_code), None
            )

        def should_slow_down(self, credential):
            early = time.time() - credential.get("polled_at", 0) < DEVICE_INTERVAL * 0.5
            credential["polled_at"] = time.time()
            return early

        def save_token(self, token):
            devices.pop(self.request.credential["device_code"])
            store.insert(store.start_family(self.request.user, self.request.client.get_client_id()), token)
            store.count("sign_ins")

    return StoredDeviceCodeGrant


def device_endpoint(devices):
    class StoredDeviceEndpoint(DeviceAuthorizationEndpoint):
        CLIENT_AUTH_METHODS = METHODS
        EXPIRES_IN = DEVICE_LIFETIME
        INTERVAL = DEVICE_INTERVAL

        def get_verification_uri(self):
            return f"{issuer()}/device"

        def save_device_credential(self, client_id, scope, data):
            expires_at = time.time() + data["expires_in"]
            devices[data["device_code"]] = DeviceCredentialDict(
                data, client_id=client_id, scope=scope, expires_at=expires_at, decision=None
            )

    return StoredDeviceEndpoint


class Issuer(IssuerParameter):
    def get_issuer(self):
        return issuer()


def issuer():
    return request.host_url.rstrip("/")


def register(application, server, store, extensions):
    """Adds the sign-in endpoints to the provider."""
    codes, devices = extensions.codes, {}
    server.register_grant(code_grant(store, codes), [S256Challenge(required=True), extensions.open_id])
    server.register_grant(device_grant(store, devices))
    server.register_endpoint(device_endpoint(devices))
    server.register_extension(Issuer())

    @application.get("/authorize")
    def authorize():
        """The user's decision is in the query: there is no page. `decision=deny` refuses."""
        with store.transaction():
            try:
                extensions.pushed.take(extensions.must_push)
            except OAuth2Error as error:
                return server.handle_error_response(server.create_oauth2_request(request), error)
            user = None if request.args.get("decision") == "deny" else request.args.get("user", "user")
            try:
                grant = server.get_consent_grant(end_user=user)
            except OAuth2Error as error:
                error.state = request.args.get("state")
                response = server.handle_error_response(server.create_oauth2_request(request), error)
                server.execute_hook("after_create_authorization_response", response)
                return response
            return server.create_authorization_response(request, grant_user=user, grant=grant)

    @application.post("/device_authorization")
    def device_authorization():
        with store.transaction():
            return server.create_endpoint_response(DeviceAuthorizationEndpoint.ENDPOINT_NAME)

    @application.post("/device")
    def device():
        """The user enters the code: `decision` is `approve`, `deny` or, as if time had passed, `expire`."""
        with store.transaction():
            code, decision = request.form["user_code"], request.form["decision"]
            found = next((found for found in devices.values() if found["user_code"] == code), None)
            if found is None:
                return jsonify(error="unknown code"), 404
            if decision == "expire":
                found["expires_at"] = 0
            else:
                found["decision"] = (request.form.get("user", "user"), decision == "approve")
        return jsonify(decision=decision)

    # Issuers with a path, whose descriptions show what a client must check.
    @application.get("/.well-known/oauth-authorization-server/<tenant>")
    def tenant_metadata(tenant):
        if tenant == "elsewhere":
            return jsonify(description(issuer()))
        if tenant == "plain":
            return jsonify(
                description(issuer()) | {"issuer": f"{issuer()}/plain", "code_challenge_methods_supported": ["plain"]}
            )
        return jsonify(error="not found"), 404

    @application.get("/openid/.well-known/openid-configuration")
    def openid_metadata():
        return jsonify(description(issuer()) | {"issuer": f"{issuer()}/openid"})


def description(issuer):
    """The metadata of RFC 8414."""
    return {
        "issuer": issuer,
        "authorization_endpoint": f"{issuer}/authorize",
        "token_endpoint": f"{issuer}/token",
        "token_endpoint_auth_methods_supported": METHODS,
        "token_endpoint_auth_signing_alg_values_supported": ["ES256"],
        "pushed_authorization_request_endpoint": f"{issuer}/par",
        "jwks_uri": f"{issuer}/keys",
        "id_token_signing_alg_values_supported": ["ES256", "RS256"],
        "scopes_supported": ["openid", "resource"],
        "device_authorization_endpoint": f"{issuer}/device_authorization",
        "revocation_endpoint": f"{issuer}/revoke",
        "revocation_endpoint_auth_methods_supported": METHODS,
        "grant_types_supported": GRANTS,
        "response_types_supported": ["code"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
    }
