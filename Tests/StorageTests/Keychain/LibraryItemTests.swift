import AuthInterface
import Foundation
import Testing

@testable import Storage

/// Applications that kept their tokens by Auth0.swift, supabase-swift or AppAuth. The items are written by encoders of
/// this file, after the sources of those libraries: no such application was run.
@Suite struct LibraryItemTests {
    private static let expiry = Date(timeIntervalSince1970: 1_790_000_000)

    private func load(_ data: Data, _ predecessor: KeychainPredecessor) async throws -> TokenBundle? {
        let model = ModelKeychain()
        model.insert(data, at: .older)
        let bundle = try await KeychainTokenStore.over(model, predecessors: [predecessor]).load()
        #expect(model.items.map(\.location) == [.own.inGroup("own.group")], "the item has moved")
        // Later starts find the same session.
        #expect(try await KeychainTokenStore.over(model, predecessors: [predecessor]).load() == bundle)
        return bundle
    }

    private func expectCorrupt(_ data: Data, _ predecessor: KeychainPredecessor) async throws {
        let model = ModelKeychain()
        model.insert(data, at: .older)
        let store = KeychainTokenStore.over(model, predecessors: [predecessor])
        #expect(await storeError { _ = try await store.load() }?.code == .corrupt)
        #expect(model.data(at: .older) == data)
        // A sign-in replaces it.
        try await store.expectRoundTrip(of: .numbered(0))
        #expect(model.items.count == 1)
    }

    @Test func `credentials of Auth0 stay signed in`() async throws {
        let bundle = try await load(KeyedArchive.auth0(expiry: Self.expiry), .auth0Credentials(at: .older))
        #expect(bundle?.accessToken == "access-0" && bundle?.refreshToken == "refresh-0")
        #expect(bundle?.expiresAt == Self.expiry && bundle?.generation == 0)
    }

    @Test func `a binary archive of Auth0 is read`() async throws {
        let data = try #require(Data(base64Encoded: KeyedArchive.binaryOfAuth0))
        let bundle = try await load(data, .auth0Credentials(at: .older))
        #expect(bundle?.accessToken == "access-0" && bundle?.refreshToken == "refresh-0")
        #expect(bundle?.expiresAt == Self.expiry)
    }

    @Test func `an access token of Auth0 alone is a session that cannot be refreshed`() async throws {
        let data = KeyedArchive.auth0(refreshToken: nil, expiry: Self.expiry)
        let bundle = try await load(data, .auth0Credentials(at: .older))
        #expect(bundle?.accessToken == "access-0" && bundle?.refreshToken == nil)
    }

    @Test func `a refresh token of Auth0 alone is a session that must be refreshed`() async throws {
        let data = KeyedArchive.auth0(accessToken: "", expiry: Self.expiry)
        let bundle = try await load(data, .auth0Credentials(at: .older))
        #expect(bundle?.refreshToken == "refresh-0")
        #expect(bundle?.isExpired(at: Date(timeIntervalSince1970: 0)) == true)
    }

    @Test func `a state of AppAuth stays signed in with its newest tokens`() async throws {
        let data = KeyedArchive.appAuth(
            authorization: KeyedArchive.response("OIDAuthorizationResponse", access: "access-of-the-page", expiry: nil),
            token: KeyedArchive.response(expiry: Self.expiry))
        let bundle = try await load(data, .appAuthState(at: .older))
        #expect(bundle?.accessToken == "access-0" && bundle?.refreshToken == "refresh-0")
        #expect(bundle?.expiresAt == Self.expiry)
    }

    @Test func `a state of AppAuth without a token response has the tokens of the authorization`() async throws {
        let response = KeyedArchive.response("OIDAuthorizationResponse", expiry: Self.expiry)
        let bundle = try await load(KeyedArchive.appAuth(authorization: response), .appAuthState(at: .older))
        #expect(bundle?.accessToken == "access-0" && bundle?.expiresAt == Self.expiry)
    }

    @Test(arguments: [(true, false), (false, true)])
    func `a state of AppAuth that failed or asks for a refresh is refreshed first`(
        needsRefresh: Bool, hasFailed: Bool
    ) async throws {
        let data = KeyedArchive.appAuth(
            token: KeyedArchive.response(expiry: Self.expiry), needsRefresh: needsRefresh, hasFailed: hasFailed)
        let bundle = try await load(data, .appAuthState(at: .older))
        #expect(bundle?.refreshToken == "refresh-0")
        #expect(bundle?.isExpired(at: Date(timeIntervalSince1970: 0)) == true)
    }

    @Test func `tokens that are bound to a key are not carried over`() async throws {
        try await expectCorrupt(
            KeyedArchive.auth0(expiry: Self.expiry, type: "DPoP"), .auth0Credentials(at: .older))
        try await expectCorrupt(
            KeyedArchive.appAuth(token: KeyedArchive.response(expiry: nil, type: "dpop")), .appAuthState(at: .older))
    }

    @Test func `an archive of something else, or without tokens, is corrupt and stays until a sign-in`() async throws {
        let others = [
            KeyedArchive.appAuth(refreshToken: nil), KeyedArchive.data(KeyedArchive.request),
            KeyedArchive.data(.text("a text")), .garbage, Data(),
        ]
        for data in others {
            try await expectCorrupt(data, .appAuthState(at: .older))
            try await expectCorrupt(data, .auth0Credentials(at: .older))
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
    func `a session of Supabase stays signed in`(_ json: String) async throws {
        let bundle = try await load(Data(json.utf8), .supabaseSession(at: .older))
        #expect(bundle?.accessToken == "access-0" && bundle?.refreshToken == "refresh-0")
        #expect(bundle?.expiresAt == Self.expiry && bundle?.generation == 0)
    }

    @Test func `a session of Supabase without an instant of expiry is used until it is refused`() async throws {
        let json = #"{"access_token":"access-0","expires_in":3600,"refresh_token":"refresh-0","user":{}}"#
        let bundle = try await load(Data(json.utf8), .supabaseSession(at: .older))
        #expect(bundle?.refreshToken == "refresh-0" && bundle?.expiresAt == nil)
    }

    @Test(arguments: [#"{"accessToken":"access-0"}"#, #"{"session":1}"#, "[]", ""])
    func `anything else is no session of Supabase, and stays until a sign-in`(_ json: String) async throws {
        try await expectCorrupt(Data(json.utf8), .supabaseSession(at: .older))
    }
}

/// An archive of `NSKeyedArchiver` in its XML form: Linux's archiver writes no object under the name of another class.
private struct KeyedArchive {
    indirect enum Value {
        case null
        case flag(Bool)
        case text(String)
        case date(Date)
        case object(String, [String: Value])
    }

    private var objects = ["<string>$null</string>"]

    static func data(_ root: Value) -> Data {
        var archive = KeyedArchive()
        let root = archive.reference(to: root)
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0"><dict>
            <key>$version</key><integer>100000</integer><key>$archiver</key><string>NSKeyedArchiver</string>
            <key>$top</key><dict><key>root</key>\(root)</dict>
            <key>$objects</key><array>\(archive.objects.joined())</array>
            </dict></plist>
            """
        return Data(text.utf8)
    }

    /// A flag is written where it is used, everything else into the table of objects.
    private mutating func reference(to value: Value) -> String {
        switch value {
        case .null: return uid(0)
        case .flag(let flag): return flag ? "<true/>" : "<false/>"
        case .text(let text): return add("<string>\(text)</string>")
        case .date(let date):
            let seconds = "<key>NS.time</key><real>\(date.timeIntervalSinceReferenceDate)</real>"
            return add("<dict>\(seconds)<key>$class</key>\(reference(toClass: "NSDate"))</dict>")
        case .object(let name, let members):
            let written = members.sorted { $0.key < $1.key }.map { "<key>\($0.key)</key>\(reference(to: $0.value))" }
            return add("<dict>\(written.joined())<key>$class</key>\(reference(toClass: name))</dict>")
        }
    }

    private mutating func reference(toClass name: String) -> String {
        let names = "<array><string>\(name)</string><string>NSObject</string></array>"
        return add("<dict><key>$classname</key><string>\(name)</string><key>$classes</key>\(names)</dict>")
    }

    private mutating func add(_ object: String) -> String {
        objects.append(object)
        return uid(objects.count - 1)
    }

    private func uid(_ index: Int) -> String { "<dict><key>CF$UID</key><integer>\(index)</integer></dict>" }
}

extension KeyedArchive.Value {
    init(_ text: String?) { self = text.map { .text($0) } ?? .null }

    init(_ date: Date?) { self = date.map { .date($0) } ?? .null }
}

extension KeyedArchive {
    /// `Credentials` of Auth0.swift 3.1.
    static func auth0(
        accessToken: String = "access-0", refreshToken: String? = "refresh-0", expiry: Date, type: String = "Bearer"
    ) -> Data {
        data(
            .object(
                "A0Credentials",
                [
                    "accessToken": .text(accessToken), "tokenType": .text(type), "idToken": .text("id-token"),
                    "refreshToken": Value(refreshToken), "expiresIn": .date(expiry),
                    "scope": .text("openid offline_access"), "recoveryCode": .null,
                ]))
    }

    /// The same in the binary form, with the parts of an archive in the order in which Apple's archiver has them.
    static let binaryOfAuth0 = """
        YnBsaXN0MDDUAQIDBAUGBwpYJHZlcnNpb25ZJGFyY2hpdmVyVCR0b3BYJG9iamVjdHMSAAGGoF8QD05TS2V5ZWRBcmNoaXZlctEICVRyb290
        gAGqCwwdHh8gISUrLFUkbnVsbNgNDg8QERITFBUWFxgZGhscW2FjY2Vzc1Rva2VuWXRva2VuVHlwZVdpZFRva2VuXHJlZnJlc2hUb2tlblll
        eHBpcmVzSW5Vc2NvcGVccmVjb3ZlcnlDb2RlViRjbGFzc4ACgAOABIAFgAaACIAAgAlYYWNjZXNzLTBWQmVhcmVyWGlkLXRva2VuWXJlZnJl
        c2gtMNIiFCMkV05TLnRpbWUjQcgwuYAAAACAB9ImJygpWiRjbGFzc25hbWVYJGNsYXNzZXNWTlNEYXRloigqWE5TT2JqZWN0XxAVb3Blbmlk
        IG9mZmxpbmVfYWNjZXNz0iYnLS5dQTBDcmVkZW50aWFsc6ItKgAIABEAGgAkACkAMgA3AEkATABRAFMAXgBkAHUAgQCLAJMAoACqALAAvQDE
        AMYAyADKAMwAzgDQANIA1ADdAOQA7QD3APwBBAENAQ8BFAEfASgBLwEyATsBUwFYAWYAAAAAAAACAQAAAAAAAAAvAAAAAAAAAAAAAAAAAAAB
        aQ==
        """.replacing(/\s/, with: "")

    /// `OIDAuthState` of AppAuth 2.1.
    static func appAuth(
        authorization: Value = .null, token: Value = .null, refreshToken: String? = "refresh-0",
        needsRefresh: Bool = false, hasFailed: Bool = false
    ) -> Data {
        var members: [String: Value] = [
            "lastAuthorizationResponse": authorization, "lastTokenResponse": token,
            "refreshToken": Value(refreshToken), "scope": .text("openid"), "needsTokenRefresh": .flag(needsRefresh),
        ]
        if hasFailed {
            members["authorizationError"] = .object("NSError", ["NSDomain": .text("org.openid.appauth.oauth_token")])
        }
        return data(.object("OIDAuthState", members))
    }

    /// A response of AppAuth, with its request.
    static func response(
        _ name: String = "OIDTokenResponse", access: String = "access-0", expiry: Date?, type: String = "Bearer"
    ) -> Value {
        .object(
            name,
            [
                "access_token": .text(access), "expires_in": Value(expiry), "token_type": .text(type),
                "refresh_token": .text("refresh-of-the-response"), "request": request, "additionalParameters": .null,
            ])
    }

    static let request = Value.object("OIDTokenRequest", ["grant_type": .text("refresh_token")])
}
