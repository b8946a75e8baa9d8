import Foundation

/// An archive of `NSKeyedArchiver` in its XML form: Linux's archiver writes no object under the name of another class.
struct KeyedArchive {
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
