"""Proofs of DPoP (RFC 9449 section 4.3), checked with joserfc: parsing, signatures and thumbprints are the library's."""

import base64
import hashlib
import time
from urllib.parse import urlsplit, urlunsplit

from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import ECKey

ALGORITHMS = ["ES256"]
# How old a proof may be, and how far in the future.
TOLERANCE = 30
PRIVATE = {"d", "p", "q", "dp", "dq", "qi", "k"}


class ProofError(Exception):
    """What is wrong with a proof."""


class NonceError(ProofError):
    """The proof does not name a nonce of the server."""


def target(url):
    """A URL without query and fragment, in one form (RFC 3986 section 6.2)."""
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    if ":" in host:
        host = f"[{host}]"
    port = parts.port
    if port is not None and port != {"https": 443, "http": 80}.get(parts.scheme.lower()):
        host = f"{host}:{port}"
    return urlunsplit((parts.scheme.lower(), host, parts.path or "/", "", ""))


def token_digest(token):
    """The claim `ath` of an access token."""
    return base64.urlsafe_b64encode(hashlib.sha256(token.encode("ascii")).digest()).rstrip(b"=").decode()


def check(proofs, method, url, token=None, thumbprint=None, seen=None, nonces=None, now=None):
    """Checks the values of a request's DPoP fields, by each rule of RFC 9449 section 4.3.

    `seen` is the set of identifiers that were used; `nonces` the nonces that are accepted now, or None where none is
    wanted. Returns the thumbprint of the key. Raises ProofError, whose text begins with the rule that is broken.
    """
    if len(proofs) != 1:
        raise ProofError(f"fields: {len(proofs)} proofs")
    try:
        header = jws.extract_compact(proofs[0].encode()).headers()
    except (JoseError, ValueError) as error:
        raise ProofError(f"form: {error}") from error
    if header.get("typ") != "dpop+jwt":
        raise ProofError("typ: not dpop+jwt")
    if header.get("alg") not in ALGORITHMS:
        raise ProofError("alg: not one that is accepted")
    jwk = header.get("jwk")
    if not isinstance(jwk, dict) or PRIVATE & jwk.keys():
        raise ProofError("jwk: none, or with a private half")
    try:
        key = ECKey.import_key(jwk)
        body = jws.deserialize_compact(proofs[0].encode(), key, algorithms=ALGORITHMS)
        claims = _claims(body.payload)
    except (JoseError, ValueError, KeyError) as error:
        raise ProofError(f"signature: {error}") from error
    if claims.get("htm") != method:
        raise ProofError("htm: another method")
    if not isinstance(claims.get("htu"), str) or target(claims["htu"]) != target(url) or claims["htu"] != target(url):
        raise ProofError("htu: another URL, or one with a query or a fragment")
    issued = claims.get("iat")
    if not isinstance(issued, int) or abs((now or time.time()) - issued) > TOLERANCE:
        raise ProofError("iat: too old, or in the future")
    if claims.get("ath") != (token_digest(token) if token is not None else None):
        raise ProofError("ath: not the digest of the access token")
    found = key.thumbprint()
    if thumbprint is not None and found != thumbprint:
        raise ProofError("thumbprint: the token is bound to another key")
    identifier = claims.get("jti")
    if not isinstance(identifier, str) or len(identifier) < 16:
        raise ProofError("jti: none, or one that can be guessed")
    if seen is not None:
        if identifier in seen:
            raise ProofError("jti: used before")
        seen.add(identifier)
    if nonces is not None and claims.get("nonce") not in nonces:
        raise NonceError("nonce: none of this server's")
    return found


def _claims(payload):
    import json

    claims = json.loads(payload)
    if not isinstance(claims, dict):
        raise ValueError("the payload is no object")
    return claims
