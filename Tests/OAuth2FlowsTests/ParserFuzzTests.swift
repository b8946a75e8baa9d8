#if Crypto
import Foundation
import TestSupport
import Testing

@testable import OAuth2Flows

/// No input crashes a parser, makes it hang, or makes it use time out of proportion to its size (G26).
@Suite("Parsers of what an authorization server writes", .ownThread, .timeLimit(.minutes(20))) struct ParserFuzzTests {
    private static let claims =
        #"{"iss":"https://id.example.com","sub":"a","aud":["b","c"],"azp":"b","exp":1,"iat":2.5}"#
    private static let token = "eyJhbGciOiJFUzI1NiIsImtpZCI6IjEiLCJ0eXAiOiJKV1QifQ.eyJpc3MiOiJqb2UifQ.AAAA"
    private static let keys = """
        {"keys":[{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",\
        "y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0","kid":"1"},{"kty":"RSA","n":"AQAB","e":"AQAB"}]}
        """

    static let parsers: [FuzzedParser] = [
        FuzzedParser(
            "id token", seeds: [token, token.replacingOccurrences(of: ".", with: "..")],
            words: [".", "eyJ", "-", "_", "=", "AAAA"], units: [".", "a", "AAAA."]
        ) { (text: String) in
            _ = try? JSONWebSignature(text)
            _ = try IDTokenClaims(of: text)
        },
        FuzzedParser(
            "claims", seeds: [claims],
            words: ["{", "}", "[", "]", "null", "1e999", "-1", #""exp":"#, #""aud":"#, "\\u0000"],
            units: ["[", "{\"a\":", " "]
        ) { (data: Data) in
            let claims = try JSONDecoder().decode(IDTokenClaims.self, from: data)
            _ = IDToken(
                claims, issuer: claims.issuer, expiresAt: Date(timeIntervalSince1970: claims.expiresAt ?? 0),
                issuedAt: Date(timeIntervalSince1970: claims.issuedAt ?? 0))
        },
        FuzzedParser(
            "keys", seeds: [keys], words: ["{", "}", "[", "]", "null", #""kty":"#, #""RSA""#, #""n":"#, "AQAB"],
            units: ["[", "{\"keys\":[", " "]
        ) { (data: Data) in
            for key in try JSONDecoder().decode(VerificationKeySet.self, from: data).keys {
                for algorithm in SignatureAlgorithm.allCases where key.isFor(algorithm) {
                    _ = key.isValid(Data(count: 64), for: Data(), by: algorithm)
                }
            }
        },
    ]

    @Test(arguments: parsers)
    func `no input crashes or hangs a parser, and its time is linear`(parser: FuzzedParser) { parser.check() }
}
#endif
