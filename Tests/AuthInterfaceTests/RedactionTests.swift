import AuthInterface
import Foundation
import Testing

/// G17: no text that may be logged contains a token.
@Suite struct RedactionTests {
    private static let access = "canary-access"
    private static let refresh = "canary-refresh"

    private struct Leaky: Error {
        let secret = RedactionTests.access
    }

    private static let bundle = TokenBundle(accessToken: access, refreshToken: refresh)

    @Test func `G17: no description, debug description or dump of a token value shows a token`() {
        let result = TokenRefreshResult(accessToken: Self.access, refreshToken: Self.refresh, expiresIn: .seconds(5))
        let token = SessionToken(
            value: Self.access, refreshToken: Self.refresh, session: SessionID(), generation: 0)
        let request = TokenRefreshRequest(refreshToken: Self.refresh, accessToken: Self.access)
        for text in texts(of: Self.bundle) + texts(of: request) + texts(of: result)
            + texts(of: token) + texts(of: Self.bundle.token)
            + texts(of: [Self.bundle]) + texts(of: ["tokens": token]) + texts(of: Optional(result))
        {
            #expect(!text.contains("canary"), "\(text)")
        }
    }

    @Test func `G17: an error names its cause by type, because the cause's own text may hold anything`() {
        let errors: [any Error] = [
            TokenRefreshError(.unavailable, cause: Leaky()),
            AuthenticationError(.refreshUnavailable, cause: Leaky()),
            AuthenticationError(.refreshUnavailable, cause: TokenRefreshError(.unavailable, cause: Leaky())),
            TokenStoreError(.unavailable, reason: "the disk is full", cause: Leaky()),
        ]
        for error in errors {
            for text in texts(of: error) { #expect(!text.contains("canary"), "\(text)") }
            #expect(!error.localizedDescription.contains("canary"))
        }
    }

    @Test func `the description of every authentication error says what to do in one line`() {
        let codes: [AuthenticationError.Code] = [
            .notSignedIn, .sessionEnded, .unauthorized, .noRefreshToken, .refreshUnavailable, .storeUnavailable,
            .invalidTokens,
        ]
        let texts = codes.map { AuthenticationError($0).description }
        #expect(Set(texts).count == codes.count)
        for (code, text) in zip(codes, texts) {
            #expect(text.hasPrefix("\(code): ") && text.count > 20 && !text.contains("\n"), "\(text)")
        }
    }

    @Test func `a pause in an error has a unit, even if it is zero, negative or huge`() {
        let said = AuthenticationError(.refreshUnavailable, retryAfter: .seconds(0.248_532_966_230)).description
        #expect(said.contains("(retry after 248 ms)"), "\(said)")
        let later = TokenRefreshError(.unavailable, retryAfter: .seconds(90)).description
        #expect(later.hasSuffix("retry after 1 min 30 s"))
        for odd in [Duration.seconds(Int64.min), .seconds(Int64.max), .zero, .seconds(-9.5)] {
            #expect(!TokenRefreshError(.unavailable, retryAfter: odd).description.contains("attoseconds"))
        }
    }

    private func texts(of value: some Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        return [String(describing: value), String(reflecting: value), dumped, "\(value)"]
    }
}
