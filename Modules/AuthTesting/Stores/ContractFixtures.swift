import AuthInterface
import Foundation

extension TokenBundle {
    /// A bundle whose tokens say which one it is, in both.
    static func numbered(_ number: Int, session: SessionID = SessionID(), generation: Int = 0) -> TokenBundle {
        TokenBundle(
            accessToken: "contract-access-\(number)",
            refreshToken: "contract-refresh-\(number)",
            session: session,
            generation: generation
        )
    }

    /// A bundle of 16 KB that is mixed up with another one only where that can be seen.
    static func bulky(_ number: Int) -> TokenBundle {
        TokenBundle(
            accessToken: String(repeating: "a\(number).", count: 8_192 / "a\(number).".count),
            refreshToken: String(repeating: "r\(number).", count: 8_192 / "r\(number).".count),
            generation: number
        )
    }

    /// The bundles a store must keep, each for one reason.
    static let remarkable: [(what: String, bundle: TokenBundle)] = [
        ("plain", .numbered(1)),
        ("no refresh token", TokenBundle(accessToken: "contract-access", refreshToken: nil)),
        ("empty refresh token", TokenBundle(accessToken: "contract-access", refreshToken: "")),
        (
            "every field",
            TokenBundle(
                accessToken: "contract-access",
                refreshToken: "contract-refresh",
                expiresAt: Date(timeIntervalSince1970: 1_900_000_000.625),
                clockSkew: -12.5,
                session: SessionID(rawValue: "contract-session"),
                generation: 1_000_000
            )
        ),
        (
            "characters that need care",
            TokenBundle(
                accessToken: "\"quoted\" back\\slash / <tag> & 'single' %41 \u{1}\u{7f}\n\t",
                refreshToken: "\u{e9} e\u{301} \u{4e2d}\u{6587} \u{1f511}",
                session: SessionID(rawValue: "\u{feff}session \u{2028}")
            )
        ),
        ("tokens of 8 KB", .bulky(7)),
    ]

    /// The fields in which a loaded bundle differs from the saved one, by name: their values stay out of messages.
    ///
    /// Texts are compared byte by byte, for a server does. Dates may be a millisecond apart.
    func fieldsThatDiffer(from other: TokenBundle) -> [String] {
        var fields: [String] = []
        if !accessToken.utf8.elementsEqual(other.accessToken.utf8) { fields.append("accessToken") }
        if refreshToken.map({ Array($0.utf8) }) != other.refreshToken.map({ Array($0.utf8) }) {
            fields.append("refreshToken")
        }
        switch (expiresAt, other.expiresAt) {
        case (nil, nil): break
        case (let one?, let two?) where abs(one.timeIntervalSince(two)) < 0.001: break
        default: fields.append("expiresAt")
        }
        if abs(clockSkew - other.clockSkew) >= 0.001 { fields.append("clockSkew") }
        if !session.rawValue.utf8.elementsEqual(other.session.rawValue.utf8) { fields.append("session") }
        if generation != other.generation { fields.append("generation") }
        return fields
    }
}

extension TokenStore {
    /// Loads and compares.
    func expectStored(_ bundle: TokenBundle?, _ occasion: String) async throws {
        switch (try await load(), bundle) {
        case (nil, nil): return
        case (nil, _?): throw RuleBroken("\(occasion), the store answers none")
        case (let loaded?, nil): throw RuleBroken("\(occasion), the store still answers \(loaded)")
        case (let loaded?, let bundle?):
            let fields = loaded.fieldsThatDiffer(from: bundle).joined(separator: ", ")
            try expect(fields.isEmpty, otherwise: "\(occasion), these fields are not as saved: \(fields)")
        }
    }
}

/// Where a value shows one of the tokens of a bundle.
///
/// - Returns: The way it was shown, or `nil` if it shows none.
func leak(of bundle: TokenBundle, in value: Any) -> String? {
    var dumped = ""
    dump(value, to: &dumped)
    let views = [
        ("description", String(describing: value)),
        ("debug description", String(reflecting: value)),
        ("dump", dumped),
        ("localized description", (value as? any Error).map(\.localizedDescription) ?? ""),
    ]
    let tokens = [bundle.accessToken, bundle.refreshToken].compactMap(\.self)
    return views.first { view in tokens.contains { view.1.contains($0) } }?.0
}
