import AuthInterface
import ContractTesting
import Foundation

extension TokenBundle {
    /// A bundle whose tokens contain its number.
    static func numbered(_ number: Int, session: SessionID = SessionID(), generation: Int = 0) -> TokenBundle {
        TokenBundle(
            accessToken: "contract-access-\(number)",
            refreshToken: "contract-refresh-\(number)",
            session: session,
            generation: generation
        )
    }

    /// A bundle of 16 KB whose every part contains its number.
    static func bulky(_ number: Int) -> TokenBundle {
        TokenBundle(
            accessToken: String(repeating: "a\(number).", count: 8_192 / "a\(number).".count),
            refreshToken: String(repeating: "r\(number).", count: 8_192 / "r\(number).".count),
            generation: number
        )
    }

    /// The bundles that a store must keep, each with its reason.
    static let unusual: [(what: String, bundle: TokenBundle)] = [
        ("plain", .numbered(1)),
        ("no refresh token", TokenBundle(accessToken: "contract-access", refreshToken: nil)),
        ("empty refresh token", TokenBundle(accessToken: "contract-access", refreshToken: "")),
        ("every field", .complete(isAbandoned: false)),
        ("an abandoned pending refresh", .complete(isAbandoned: true)),
        (
            "characters that need escaping",
            TokenBundle(
                accessToken: "\"quoted\" back\\slash / <tag> & 'single' %41 \u{1}\u{7f}\n\t",
                refreshToken: "\u{4e2d}\u{6587} \u{1f511}",
                session: SessionID(rawValue: "\u{feff}session \u{2028}")
            )
        ),
        (
            "characters that Unicode can write in several ways",
            TokenBundle(
                accessToken: "access \(unnormalized)", refreshToken: "refresh \(unnormalized)",
                session: SessionID(rawValue: "session \(unnormalized)"),
                refreshIntent: RefreshIntent(
                    idempotencyKey: "key \(unnormalized)",
                    owner: ProcessIdentity(host: "host \(unnormalized)", process: "process \(unnormalized)"),
                    date: Date(timeIntervalSince1970: 1_899_999_000)
                )
            )
        ),
        ("tokens of 8 KB", .bulky(7)),
    ]

    /// Composed, decomposed, a sign with another form of its own, and a ligature: each form of normalization changes
    /// it.
    private static let unnormalized = "\u{e9} e\u{301} \u{212b} \u{fb01}"

    private static func complete(isAbandoned: Bool) -> TokenBundle {
        TokenBundle(
            accessToken: "contract-access",
            refreshToken: "contract-refresh",
            expiresAt: Date(timeIntervalSince1970: 1_900_000_000.625),
            clockSkew: -12.5,
            session: SessionID(rawValue: "contract-session"),
            generation: 1_000_000,
            receivedAt: Date(timeIntervalSince1970: 1_899_996_400.375),
            refreshIntent: RefreshIntent(
                idempotencyKey: "contract-key \"\u{e9}\"",
                owner: ProcessIdentity(host: "contract-host", process: "4711-contract"),
                date: Date(timeIntervalSince1970: 1_899_999_000.875),
                isAbandoned: isAbandoned
            ),
            binding: TokenBinding(
                thumbprint: "contract-thumbprint",
                nonces: [
                    "https://contract.example": ProofNonce(
                        value: "contract-nonce", date: Date(timeIntervalSince1970: 1_899_999_500.125), clockSkew: -3.5),
                    "https://other.example": ProofNonce(value: nil, date: Date(timeIntervalSince1970: 1_899_999_600)),
                ]),
            subject: TokenSubject(issuer: "https://contract.example", id: "contract-user"),
            scope: "contract.read contract.write",
            ordinal: SessionOrdinal(rawValue: 1 << 53)
        )
    }

    /// The names of the fields in which a loaded bundle differs from the saved one. Messages must not show their
    /// values.
    ///
    /// Texts are compared byte by byte, as a server does. Dates may differ by a millisecond.
    func fieldsThatDiffer(from other: TokenBundle) -> [String] {
        var fields = namesOfDifferences([
            "accessToken": accessToken.hasSameBytes(as: other.accessToken),
            "refreshToken": refreshToken.map { Array($0.utf8) } == other.refreshToken.map { Array($0.utf8) },
            "expiresAt": expiresAt.isSame(as: other.expiresAt),
            "receivedAt": receivedAt.isSame(as: other.receivedAt),
            "clockSkew": abs(clockSkew - other.clockSkew) < 0.001,
            "session": session.rawValue.hasSameBytes(as: other.session.rawValue),
            "generation": generation == other.generation, "ordinal": ordinal == other.ordinal,
            "binding": binding == other.binding, "subject": subject == other.subject,
            "scope": scope.map { Array($0.utf8) } == other.scope.map { Array($0.utf8) },
        ])
        switch (refreshIntent, other.refreshIntent) {
        case (nil, nil): break
        case (let one?, let two?): fields += one.fieldsThatDiffer(from: two).map { "refreshIntent.\($0)" }
        default: fields.append("refreshIntent")
        }
        return fields
    }
}

extension RefreshIntent {
    fileprivate func fieldsThatDiffer(from other: RefreshIntent) -> [String] {
        namesOfDifferences([
            "idempotencyKey": idempotencyKey.hasSameBytes(as: other.idempotencyKey),
            "owner": owner.host.hasSameBytes(as: other.owner.host)
                && owner.process.hasSameBytes(as: other.owner.process),
            "date": Optional(date).isSame(as: other.date), "isAbandoned": isAbandoned == other.isAbandoned,
        ])
    }
}

/// The names of the fields that are not the same.
func namesOfDifferences(_ isSame: KeyValuePairs<String, Bool>) -> [String] {
    isSame.filter { !$0.value }.map(\.key)
}

extension String {
    /// Whether two texts have the same bytes, which `==` does not demand.
    func hasSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}

extension Date? {
    /// Whether two dates are less than a millisecond apart, or both missing.
    func isSame(as other: Date?) -> Bool {
        switch (self, other) {
        case (nil, nil): true
        case (let one?, let two?): abs(one.timeIntervalSince(two)) < 0.001
        default: false
        }
    }
}

extension TokenStore {
    /// Loads the bundle and compares it.
    func expectStored(_ bundle: TokenBundle?, _ occasion: String) async throws {
        switch (try await load(), bundle) {
        case (nil, nil): return
        case (nil, _?): throw RuleBroken("\(occasion), load returns nil")
        case (let loaded?, nil): throw RuleBroken("\(occasion), load still returns \(loaded)")
        case (let loaded?, let bundle?):
            let fields = loaded.fieldsThatDiffer(from: bundle).joined(separator: ", ")
            try expect(fields.isEmpty, otherwise: "\(occasion), these fields are not as saved: \(fields)")
        }
    }
}

/// Looks for the secrets of a bundle in the descriptions and the dump of a value. Returns the description that shows a
/// secret; `nil` if none does.
func leak(of bundle: TokenBundle, in value: Any) -> String? {
    var dumped = ""
    dump(value, to: &dumped)
    let views = [
        ("description", String(describing: value)),
        ("debug description", String(reflecting: value)),
        ("dump", dumped),
        ("localized description", (value as? any Error).map(\.localizedDescription) ?? ""),
    ]
    return views.first { view in bundle.secrets.contains { view.1.contains($0) } }?.0
}

extension TokenBundle {
    /// The tokens, and the idempotency key of a pending refresh.
    var secrets: [String] {
        [accessToken, refreshToken, refreshIntent?.idempotencyKey].compactMap(\.self)
    }
}
