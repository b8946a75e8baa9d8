"""Checks the checker: the proofs that RFC 9449 prints pass, and one wrong proof for each rule fails by that rule."""

import base64
import json
import sys

from joserfc import jws
from joserfc.jwk import ECKey, OctKey, RSAKey

import proofs

HEADER = (
    "eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0RscE"
    "JoRjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIsImNydiI6IlAtMjU2In19"
)
# Figures 2, 6 and 12.
TOKEN_REQUEST = (
    f"{HEADER}.eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmVyLmV4YW1wbGUuY29tL3Rva2Vu"
    "IiwiaWF0IjoxNTYyMjYyNjE2fQ.2-GxA6T8lP4vfrg8v-FdWP0A0zdrj8igiMLvqRMUvwnQg4PtFLbdLXiOSsX0x7NVY-FNyJK70nfbV37xRZT3Lg"
)
REFRESH = (
    f"{HEADER}.eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmVyLmV4YW1wbGUuY29tL3Rva2Vu"
    "IiwiaWF0IjoxNTYyMjY1Mjk2fQ.pAqut2IRDm_De6PR93SYmGBPXpwrAk90e8cP2hjiaG5QsGSuKDYW7_X620BxqhvYC8ynrrvZLTk41mSRroapUA"
)
RESOURCE = (
    f"{HEADER}.eyJqdGkiOiJlMWozVl9iS2ljOC1MQUVCIiwiaHRtIjoiR0VUIiwiaHR1IjoiaHR0cHM6Ly9yZXNvdXJjZS5leGFtcGxlLm9yZy9wcm90"
    "ZWN0ZWRyZXNvdXJjZSIsImlhdCI6MTU2MjI2MjYxOCwiYXRoIjoiZlVIeU8ycjJaM0RaNTNFc05yV0JiMHhXWG9hTnk1OUlpS0NBcWtzbVFFbyJ9."
    "2oW9RP35yRqzhrtNP86L-Ey71EOptxRimPPToA1plemAgR6pxHF8y6-yqyVnmcw6Fy1dqd-jfxSYoMxhAJpLjA"
)
TOKEN = "Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU"
THUMBPRINT = "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"
SERVER, API = "https://server.example.com/token", "https://resource.example.org/protectedresource"
# RFC 7638 section 3.1.
MODULUS = (
    "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjh"
    "Mstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvR"
    "L5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqD"
    "Kgw"
)
failures = []


def claim(text, holds):
    print(("ok      " if holds else "FAILED  ") + text, flush=True)
    if not holds:
        failures.append(text)


def outcome(values, method="POST", url=SERVER, **options):
    """The thumbprint, or the rule that is broken."""
    try:
        return proofs.check(values, method, url, **{"now": 1562262616} | options)
    except proofs.ProofError as error:
        return str(error).partition(":")[0]


def main():
    key, other = ECKey.generate_key("P-256"), ECKey.generate_key("P-256")
    public = key.as_dict(private=False)
    claims = {"jti": "0123456789abcdef", "htm": "POST", "htu": SERVER, "iat": 1562262616}

    def signed(changes=None, header=None, by=key):
        named = {"typ": "dpop+jwt", "alg": "ES256", "jwk": public} | (header or {})
        named = {name: value for name, value in named.items() if value is not None}
        payload = {name: value for name, value in (claims | (changes or {})).items() if value is not None}
        return jws.serialize_compact(named, json.dumps(payload).encode(), by, algorithms=["ES256", "ES384", "HS256"])

    claim("the printed proof of a token request passes", outcome([TOKEN_REQUEST]) == THUMBPRINT)
    claim("the printed proof of a refresh passes", outcome([REFRESH], now=1562265296) == THUMBPRINT)
    claim(
        "the printed proof of a request passes",
        outcome([RESOURCE], "GET", API, token=TOKEN, thumbprint=THUMBPRINT) == THUMBPRINT,
    )
    rsa = RSAKey.import_key({"kty": "RSA", "n": MODULUS, "e": "AQAB", "kid": "2011-04-29"})
    claim("the thumbprint is the one of RFC 7638", rsa.thumbprint() == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs")
    claim("a right proof passes", outcome([signed()]) == key.thumbprint())
    for text, proof, rule in [
        ("no JWS", "a.b", "form"),
        ("another type", signed(header={"typ": "JWT"}), "typ"),
        ("no key", signed(header={"jwk": None}), "jwk"),
        ("a key with its private half", signed(header={"jwk": key.as_dict(private=True)}), "jwk"),
        ("the signature of another key", signed(by=other), "signature"),
        ("a key of another type", signed(header={"jwk": OctKey.generate_key(256).as_dict()}), "jwk"),
        ("another method", signed({"htm": "GET"}), "htm"),
        ("no method", signed({"htm": None}), "htm"),
        ("another URL", signed({"htu": API}), "htu"),
        ("no URL", signed({"htu": None}), "htu"),
        ("a URL with a query", signed({"htu": SERVER + "?a=b"}), "htu"),
        ("a URL with a fragment", signed({"htu": SERVER + "#a"}), "htu"),
        ("an old proof", signed({"iat": 1562262616 - 31}), "iat"),
        ("a proof of the future", signed({"iat": 1562262616 + 31}), "iat"),
        ("no time", signed({"iat": None}), "iat"),
        ("a digest of a token that is not sent", signed({"ath": proofs.token_digest(TOKEN)}), "ath"),
        ("no identifier", signed({"jti": None}), "jti"),
        ("an identifier that can be guessed", signed({"jti": "1"}), "jti"),
    ]:
        claim(f"{text}: {rule}", outcome([proof]) == rule)
    secret = OctKey.generate_key(256)
    claim("a symmetric algorithm: alg", outcome([signed(header={"alg": "HS256"}, by=secret)]) == "alg")
    unsigned = signed().split(".")
    unsigned[0] = base64.urlsafe_b64encode(json.dumps({"typ": "dpop+jwt", "alg": "none", "jwk": public}).encode())
    unsigned[0] = unsigned[0].rstrip(b"=").decode()
    claim("no algorithm: alg", outcome([".".join(unsigned)]) == "alg")
    claim("two proofs: fields", outcome([signed(), signed()]) == "fields")
    claim("no proof: fields", outcome([]) == "fields")
    claim("no digest of the token: ath", outcome([signed()], token=TOKEN) == "ath")
    claim("the digest of another token: ath", outcome([RESOURCE], "GET", API, token="other") == "ath")
    claim("a token of another key: thumbprint", outcome([signed()], thumbprint=THUMBPRINT) == "thumbprint")
    seen = set()
    outcome([signed()], seen=seen)
    claim("an identifier that was used: jti", outcome([signed()], seen=seen) == "jti")
    claim("no nonce: nonce", outcome([signed()], nonces=["n1", "n0"]) == "nonce")
    claim("an old nonce: nonce", outcome([signed({"nonce": "n"})], nonces=["n1", "n0"]) == "nonce")
    claim("the nonce before passes", outcome([signed({"nonce": "n0"})], nonces=["n1", "n0"]) == key.thumbprint())
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
