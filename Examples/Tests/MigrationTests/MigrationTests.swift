import AuthInterface
import Foundation
import Migration
import Testing

/// The items are written by encoders of this folder, after the sources of the libraries: no such application was run.
/// `Storage` tests the move itself.
@Suite struct MigrationTests {
    private static let expiry = Date(timeIntervalSince1970: 1_790_000_000)

    private struct Expected {
        var accessToken = "access-0"
        var refreshToken: String? = "refresh-0"
        var expiresAt: Date? = MigrationTests.expiry
    }

    private func expect(
        _ library: FormerLibrary, _ item: Data, _ expected: Expected = Expected(),
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let bundle = try library.tokens(in: item)
        #expect(bundle.accessToken == expected.accessToken, sourceLocation: sourceLocation)
        #expect(bundle.refreshToken == expected.refreshToken, sourceLocation: sourceLocation)
        #expect(bundle.expiresAt == expected.expiresAt, sourceLocation: sourceLocation)
        #expect(bundle.generation == 0, sourceLocation: sourceLocation)
    }

    @Test func `credentials of Auth0 stay signed in`() throws {
        try expect(.auth0, KeyedArchive.auth0(expiry: Self.expiry))
        try expect(.auth0, #require(Data(base64Encoded: KeyedArchive.binaryOfAuth0)))
        // A session that cannot be refreshed, and one that must be.
        let access = KeyedArchive.auth0(refreshToken: nil, expiry: Self.expiry)
        try expect(.auth0, access, Expected(refreshToken: nil))
        let refresh = KeyedArchive.auth0(accessToken: "", expiry: Self.expiry)
        try expect(.auth0, refresh, Expected(accessToken: "", expiresAt: .distantPast))
    }

    @Test func `a state of AppAuth stays signed in with its newest tokens`() throws {
        let page = KeyedArchive.response(
            "OIDAuthorizationResponse", access: "access-of-the-page", expiry: Self.expiry + 60)
        try expect(
            .appAuth,
            KeyedArchive.appAuth(authorization: page, token: KeyedArchive.response(expiry: Self.expiry)))
        try expect(
            .appAuth, KeyedArchive.appAuth(authorization: page),
            Expected(accessToken: "access-of-the-page", expiresAt: Self.expiry + 60))
    }

    @Test(arguments: [(true, false), (false, true)])
    func `a state of AppAuth that failed or asks for a refresh is refreshed first`(
        needsRefresh: Bool, hasFailed: Bool
    ) throws {
        let item = KeyedArchive.appAuth(
            token: KeyedArchive.response(expiry: Self.expiry), needsRefresh: needsRefresh, hasFailed: hasFailed)
        try expect(.appAuth, item, Expected(expiresAt: .distantPast))
    }

    /// As versions 3 and 2.21, 2.20, 2.10, and the first ones wrote it.
    @Test(arguments: [
        #"{"accessToken":"access-0","tokenType":"bearer","expiresIn":3600,"expiresAt":1790000000,"#
            + #""refreshToken":"refresh-0","user":{"id":"6A1","userMetadata":{"session":"x"}}}"#,
        #"{"access_token":"access-0","token_type":"bearer","expires_in":3600,"expires_at":1790000000,"#
            + #""refresh_token":"refresh-0","user":{"id":"6A1","user_metadata":{}}}"#,
        #"{"session":{"access_token":"access-0","expires_in":3600,"expires_at":1790000000,"#
            + #""refresh_token":"refresh-0","user":{}},"expiration_date":"2026-09-21T14:13:20.000Z"}"#,
    ])
    func `a session of Supabase stays signed in`(_ json: String) throws {
        try expect(.supabase, Data(json.utf8))
    }

    @Test func `a session of Supabase without an instant of expiry is used until it is refused`() throws {
        let json = #"{"access_token":"access-0","expires_in":3600,"refresh_token":"refresh-0","user":{}}"#
        try expect(.supabase, Data(json.utf8), Expected(expiresAt: nil))
    }

    @Test func `tokens that are bound to a key, and anything else, are not carried over`() throws {
        let auth0 = KeyedArchive.auth0(expiry: Self.expiry, type: "DPoP")
        let appAuth = KeyedArchive.appAuth(token: KeyedArchive.response(expiry: nil, type: "dpop"))
        let archives = [
            KeyedArchive.appAuth(refreshToken: nil), KeyedArchive.data(KeyedArchive.request),
            KeyedArchive.data(.text("a text")), Data("not an archive".utf8), Data(),
        ]
        let texts = [#"{"accessToken":"access-0"}"#, #"{"session":1}"#, "[]", ""].map { Data($0.utf8) }
        let rows: [(FormerLibrary, [Data])] = [
            (.auth0, [auth0] + archives), (.appAuth, [appAuth] + archives), (.supabase, texts),
        ]
        for (library, items) in rows {
            for item in items { #expect(throws: (any Error).self) { try library.tokens(in: item) } }
        }
    }
}
