import Foundation
import TestSupport
import Testing

@testable import TokenRefresh

/// No access token crashes the reader of its claims, makes it hang, or makes it use time out of proportion to its size
/// (G26). A server writes the token.
@Suite(.ownThread, .timeLimit(.minutes(20))) struct ClaimsFuzzTests {
    private static func token(_ payload: Data) -> String { .jwt(claims: payload) }

    /// Dates are from 1970 to 9999 for any token.
    private static func check(_ token: String) {
        guard let claims = JSONWebTokenClaims(token) else { return }
        for date in [claims.expiresAt, claims.issuedAt].compactMap(\.self) {
            #expect((0...253_402_300_799).contains(date.timeIntervalSince1970), "\(token)")
        }
    }

    @Test func `no token crashes or hangs the reader of its claims`() {
        let inputs = Fuzzing(
            seeds: [#"{"exp":1800000000,"iat":1799999000.5}"#, #"{"exp":null,"a":[1,{"b":"\u0041"}]}"#, "[]", "null"],
            words: ["{", "}", "[", "\"exp\":", "1e999", "-1", "9999999999999999999999", "null", "\\u0000", "."],
            rounds: 2_000)
        inputs.run { input in
            Self.check(Self.token(input))
            // Not base64url, or of another number of parts.
            Self.check("a." + String(decoding: input, as: UTF8.self) + ".b")
            Self.check(String(decoding: input, as: UTF8.self))
        }
    }

    @Test(arguments: ["[", "{\"a\":", "\"", "9", "\\u0041", " ", "1,", "\"exp\":1,", "{}"])
    func `the time for a token is linear in its length`(unit: String) {
        for (start, end) in [("", ""), ("{\"exp\":", "}"), ("{\"a\":\"", "\",\"exp\":1}"), ("{\"a\":[", "1]}")] {
            let isLinear = Fuzzing.isLinear(unit, prefix: start, suffix: end, size: 2_500, preparing: Self.token) {
                _ = JSONWebTokenClaims($0)
            }
            #expect(isLinear, "\(start)\(unit)…\(end)")
        }
    }
}
