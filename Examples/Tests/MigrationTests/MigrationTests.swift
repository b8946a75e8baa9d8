import AuthInterface
import Foundation
import Migration
import Testing

/// The items are written by encoders of this folder, after the sources of the libraries: no such application was run.
/// `Storage` tests the move itself.
@Suite struct MigrationTests {
    private static let expiry = Date(timeIntervalSince1970: 1_790_000_000)

    /// `Credentials` of Auth0.swift 3.1.
    private func auth0(_ changes: [String: KeyedArchive.Value] = [:]) -> Data {
        let members: [String: KeyedArchive.Value] = [
            "accessToken": "access-0", "tokenType": "Bearer", "idToken": "id-token", "refreshToken": "refresh-0",
            "expiresIn": .date(Self.expiry), "scope": "openid offline_access", "recoveryCode": .null,
        ]
        return KeyedArchive.data(.object("A0Credentials", members.merging(changes) { $1 }))
    }

    /// `auth0(_:)` in the binary form, with the parts of an archive in the order in which Apple's archiver has them.
    private static let binary = """
        YnBsaXN0MDDUAQIDBAUGBwpYJHZlcnNpb25ZJGFyY2hpdmVyVCR0b3BYJG9iamVjdHMSAAGGoF8QD05TS2V5ZWRBcmNoaXZlctEICVRyb290
        gAGqCwwdHh8gISUrLFUkbnVsbNgNDg8QERITFBUWFxgZGhscW2FjY2Vzc1Rva2VuWXRva2VuVHlwZVdpZFRva2VuXHJlZnJlc2hUb2tlblll
        eHBpcmVzSW5Vc2NvcGVccmVjb3ZlcnlDb2RlViRjbGFzc4ACgAOABIAFgAaACIAAgAlYYWNjZXNzLTBWQmVhcmVyWGlkLXRva2VuWXJlZnJl
        c2gtMNIiFCMkV05TLnRpbWUjQcgwuYAAAACAB9ImJygpWiRjbGFzc25hbWVYJGNsYXNzZXNWTlNEYXRloigqWE5TT2JqZWN0XxAVb3Blbmlk
        IG9mZmxpbmVfYWNjZXNz0iYnLS5dQTBDcmVkZW50aWFsc6ItKgAIABEAGgAkACkAMgA3AEkATABRAFMAXgBkAHUAgQCLAJMAoACqALAAvQDE
        AMYAyADKAMwAzgDQANIA1ADdAOQA7QD3APwBBAENAQ8BFAEfASgBLwEyATsBUwFYAWYAAAAAAAACAQAAAAAAAAAvAAAAAAAAAAAAAAAAAAAB
        aQ==
        """.replacing(/\s/, with: "")

    /// `OIDAuthState` of AppAuth 2.1.
    private func appAuth(_ changes: [String: KeyedArchive.Value] = [:]) -> Data {
        let members: [String: KeyedArchive.Value] = [
            "lastAuthorizationResponse": .null, "lastTokenResponse": response(), "refreshToken": "refresh-0",
            "scope": "openid", "needsTokenRefresh": .flag(false),
        ]
        return KeyedArchive.data(.object("OIDAuthState", members.merging(changes) { $1 }))
    }

    /// A response of AppAuth, with its request.
    private func response(_ name: String = "OIDTokenResponse", type: String = "Bearer") -> KeyedArchive.Value {
        .object(
            name,
            [
                "access_token": .text(name == "OIDTokenResponse" ? "access-0" : "access-of-the-page"),
                "expires_in": .date(Self.expiry), "token_type": .text(type),
                "refresh_token": "refresh-of-the-response", "request": Self.request, "additionalParameters": .null,
            ])
    }

    private static let request = KeyedArchive.Value.object("OIDTokenRequest", ["grant_type": "refresh_token"])

    private func expect(
        _ library: FormerLibrary, _ item: Data, access: String = "access-0", refresh: String? = "refresh-0",
        expiry: Date? = Self.expiry, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let bundle = try library.tokens(in: item)
        let expected = TokenBundle(
            accessToken: access, refreshToken: refresh, expiresAt: expiry, session: bundle.session)
        #expect(bundle == expected, sourceLocation: sourceLocation)
    }

    @Test func `credentials of Auth0 stay signed in`() throws {
        try expect(.auth0, auth0())
        try expect(.auth0, #require(Data(base64Encoded: Self.binary)))
        // A session that cannot be refreshed, and one that must be.
        try expect(.auth0, auth0(["refreshToken": .null]), refresh: nil)
        try expect(.auth0, auth0(["accessToken": ""]), access: "", expiry: .distantPast)
    }

    @Test func `a state of AppAuth stays signed in with its newest tokens`() throws {
        let page = response("OIDAuthorizationResponse")
        try expect(.appAuth, appAuth(["lastAuthorizationResponse": page]))
        try expect(
            .appAuth, appAuth(["lastAuthorizationResponse": page, "lastTokenResponse": .null]),
            access: "access-of-the-page")
    }

    @Test func `a state of AppAuth that failed or asks for a refresh is refreshed first`() throws {
        let error = KeyedArchive.Value.object("NSError", ["NSDomain": "org.openid.appauth.oauth_token"])
        for changes in [["needsTokenRefresh": KeyedArchive.Value.flag(true)], ["authorizationError": error]] {
            try expect(.appAuth, appAuth(changes), expiry: .distantPast)
        }
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
        try expect(.supabase, Data(json.utf8), expiry: nil)
    }

    @Test func `tokens that are bound to a key, and anything else, are not carried over`() throws {
        let none: [String: KeyedArchive.Value] = ["refreshToken": .null, "lastTokenResponse": .null]
        let archives = [
            appAuth(none), KeyedArchive.data(Self.request), KeyedArchive.data("a text"), Data("not an archive".utf8),
            Data(),
        ]
        let texts = [#"{"accessToken":"access-0"}"#, #"{"session":1}"#, "[]", ""].map { Data($0.utf8) }
        let rows: [(FormerLibrary, [Data])] = [
            (.auth0, [auth0(["tokenType": "DPoP"])] + archives),
            (.appAuth, [appAuth(["lastTokenResponse": response(type: "dpop")])] + archives), (.supabase, texts),
        ]
        for (library, items) in rows {
            for item in items { #expect(throws: (any Error).self) { try library.tokens(in: item) } }
        }
    }
}
