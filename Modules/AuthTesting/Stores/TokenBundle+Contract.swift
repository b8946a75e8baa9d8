import AuthInterface
import ContractTesting
import Foundation

extension TokenBundle {
    var secrets: [String] { [accessToken, refreshToken, refreshIntent?.idempotencyKey].compactMap(\.self) }

    static func numbered(_ number: Int, session: SessionID = SessionID(), generation: Int = 0) -> TokenBundle {
        TokenBundle(
            accessToken: "contract-access-\(number)", refreshToken: "contract-refresh-\(number)", session: session,
            generation: generation)
    }

    /// A bundle of 16 KB whose every part contains its number.
    static func bulky(_ number: Int) -> TokenBundle {
        TokenBundle(
            accessToken: String(repeating: "a\(number).", count: 8_192 / "a\(number).".count),
            refreshToken: String(repeating: "r\(number).", count: 8_192 / "r\(number).".count), generation: number)
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
                refreshToken: "\u{4e2d}\u{6587} \u{1f511}", session: SessionID(rawValue: "\u{feff}session \u{2028}"))
        ),
        (
            "characters that Unicode can write in several ways",
            TokenBundle(
                accessToken: "access \(unnormalized)", refreshToken: "refresh \(unnormalized)",
                session: SessionID(rawValue: "session \(unnormalized)"),
                refreshIntent: RefreshIntent(
                    idempotencyKey: "key \(unnormalized)",
                    owner: ProcessIdentity(host: "host \(unnormalized)", process: "process \(unnormalized)"),
                    date: Date(timeIntervalSince1970: 1_899_999_000)))
        ),
        ("tokens of 8 KB", .bulky(7)),
    ]

    /// Composed, decomposed, a sign with another form of its own, and a ligature: each form of normalization changes
    /// it.
    private static let unnormalized = "\u{e9} e\u{301} \u{212b} \u{fb01}"

    private static func complete(isAbandoned: Bool) -> TokenBundle {
        var failure = RefreshIntent.Failure(
            date: Date(timeIntervalSince1970: 1_899_999_001.375), pause: .milliseconds(7_500), isAmbiguous: true,
            status: 403, serverCode: "contract-code")
        failure.statusMeansExpired = true
        failure.firstDate = Date(timeIntervalSince1970: 1_899_998_001.625)
        failure.count = 3
        failure.stepUp = StepUpChallenge(.scope, acrValues: ["contract-acr"], maxAge: .seconds(60), scope: "contract")
        return TokenBundle(
            accessToken: "contract-access", refreshToken: "contract-refresh",
            expiresAt: Date(timeIntervalSince1970: 1_900_000_000.625), clockSkew: -12.5,
            session: SessionID(rawValue: "contract-session"), generation: 1_000_000,
            receivedAt: Date(timeIntervalSince1970: 1_899_996_400.375),
            refreshIntent: RefreshIntent(
                idempotencyKey: "contract-key \"\u{e9}\"",
                owner: ProcessIdentity(host: "contract-host", process: "4711-contract"),
                date: Date(timeIntervalSince1970: 1_899_999_000.875),
                firstDate: Date(timeIntervalSince1970: 1_899_998_000.125), longestCall: .milliseconds(90_500),
                isAbandoned: isAbandoned, lease: "contract-lease", failure: failure),
            signedInAt: Date(timeIntervalSince1970: 1_899_900_000.25),
            binding: TokenBinding(
                thumbprint: "contract-thumbprint",
                nonces: [
                    "https://contract.example": ProofNonce(
                        value: "contract-nonce", date: Date(timeIntervalSince1970: 1_899_999_500.125), clockSkew: -3.5),
                    "https://other.example": ProofNonce(value: nil, date: Date(timeIntervalSince1970: 1_899_999_600)),
                ]),
            subject: TokenSubject(issuer: "https://contract.example", id: "contract-user"),
            scope: "contract.read contract.write",
            ordinal: SessionOrdinal(rawValue: 1 << 53))
    }
}

/// The coded fields in which two values differ, such as `pendingRefresh.date`. Messages must not show their values.
///
/// Texts are compared byte by byte, as a server does. Dates may differ by a millisecond.
func fieldsThatDiffer<Value: Encodable>(_ first: Value, _ second: Value) throws -> [String] {
    func coded(_ value: Value) throws -> Any { try JSONSerialization.jsonObject(with: JSONEncoder().encode(value)) }
    return differences(try coded(first), try coded(second), at: [])
}

private func differences(_ first: Any?, _ second: Any?, at path: [String]) -> [String] {
    let isSame: Bool
    switch (first, second) {
    case (let first as [String: Any], let second as [String: Any]):
        let names = Set(first.keys).union(second.keys).sorted()
        return names.flatMap { differences(first[$0], second[$0], at: path + [$0]) }
    case (let first as [Any], let second as [Any]):
        isSame = first.count == second.count && zip(first, second).allSatisfy { differences($0, $1, at: path).isEmpty }
    case (let first as String, let second as String):
        isSame = first.utf8.elementsEqual(second.utf8)
    case (let first as NSNumber, let second as NSNumber):
        // Two numbers of 64 bits may have no distance, and not be the same.
        let distance = abs(first.doubleValue - second.doubleValue)
        isSame = first == second || 0 < distance && distance < 0.001
    default:
        isSame = false
    }
    return isSame ? [] : [path.joined(separator: ".")]
}

extension TokenStore {
    func expectStored(_ bundle: TokenBundle?, _ occasion: String) async throws {
        switch (try await load(), bundle) {
        case (nil, nil): return
        case (nil, _?): throw RuleBroken("\(occasion), load returns nil")
        case (let loaded?, nil): throw RuleBroken("\(occasion), load still returns \(loaded)")
        case (let loaded?, let bundle?):
            let fields = try fieldsThatDiffer(loaded, bundle).joined(separator: ", ")
            try expect(fields.isEmpty, otherwise: "\(occasion), these fields are not as saved: \(fields)")
        }
    }
}

/// Checks that no description of a value and no dump shows a secret, and says which one does otherwise.
func expectHidden(
    _ secrets: [String], in value: Any, otherwise observed: (_ view: String) -> String
) throws(RuleBroken) {
    var dumped = ""
    dump(value, to: &dumped)
    let views = [
        ("description", String(describing: value)),
        ("debug description", String(reflecting: value)),
        ("dump", dumped),
        ("localized description", (value as? any Error).map(\.localizedDescription) ?? ""),
    ]
    let leak = views.first { view in secrets.contains { view.1.contains($0) } }
    if let leak { throw RuleBroken(observed(leak.0)) }
}
