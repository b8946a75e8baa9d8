import Foundation
import Testing

@testable import AuthInterface

@Suite("Keys and their thumbprints")
struct JSONWebKeyTests {
    @Test func `the thumbprint of a key of RSA is the one that RFC 7638 §3.1 prints`() throws {
        let modulus =
            "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3"
            + "oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0"
            + "zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44"
            + "-csFCur-kEgU8awapJzKnqDKgw"
        let json = #"{"kty":"RSA","n":"\#(modulus)","e":"AQAB","alg":"RS256","kid":"2011-04-29"}"#
        let read = try JSONDecoder().decode(JSONWebKey.self, from: Data(json.utf8))
        #expect(read.thumbprint == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs")
        let made = JSONWebKey.rsa(modulus: try #require(Data(base64URL: modulus)), exponent: Data([1, 0, 1]))
        #expect(made == read)
    }

    @Test func `the thumbprint of a key of P-256 is the one that RFC 9449 §6.1 prints`() throws {
        let x = "l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs"
        let y = "9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA"
        let key = JSONWebKey.p256(x: try #require(Data(base64URL: x)), y: try #require(Data(base64URL: y)))
        #expect(key.thumbprint == "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I")
        let read = try JSONDecoder().decode(JSONWebKey.self, from: JSONEncoder().encode(key))
        #expect(read == key)
        #expect(key.members.map(\.name) == ["crv", "kty", "x", "y"])
    }

    @Test func `base64url is read back, and other alphabets are not`() {
        let bytes = Data(0...255)
        #expect(Data(base64URL: bytes.base64URL) == bytes)
        #expect(Data([0xFB, 0xFF]).base64URL == "-_8")
        for text in ["+_8", "-/8", "-_8=", "-", "-_8 "] { #expect(Data(base64URL: text) == nil, "\(text)") }
    }

    @Test func `digests of a text, and of every length, are those of the standard (FIPS 180-4)`() {
        #expect(
            SHA256Digest.of(Array("abc".utf8)).base64EncodedString()
                == "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=")
        let digests = (0..<300).map { length in
            SHA256Digest.of((0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        }
        let digest = SHA256Digest.of(digests.flatMap { $0 })
        #expect(digest.base64EncodedString() == "9l8UsJDoBQF1RjIuYYQB1B8HEMIT4BOlEx6zi76PNn8=", "by Python's hashlib")
    }
}
