import AuthInterface

/// The claims of the demo, and the observation for each. A claim without an observation does not hold.
struct Claims {
    /// A statement of the demo, and what was observed.
    struct Claim: Encodable, Hashable, Sendable {
        let name: String
        let holds: Bool
        let observed: String
    }

    /// What a run has shown: a sentence with the numbers, and the claims.
    struct Verdict: Hashable, Sendable {
        let summary: String
        let claims: [Claim]

        var holds: Bool { claims.allSatisfy(\.holds) }

        var text: String { "\(claims.count(where: \.holds)) of \(claims.count) claims hold: \(summary)" }
    }

    /// The claims in the order of the demo's steps.
    enum Name: CaseIterable, Hashable {
        case registered, fitted, allSucceed, oneRefresh, autoLogin, tokensRevoked, nothingPrinted

        func text(requests: Int) -> String {
            switch self {
            case .registered: "a guest is registered"
            case .fitted: "the image is within 1024×1024 and 5 MB"
            case .allSucceed: "\(requests) concurrent requests with an expired token all succeed"
            case .oneRefresh: "exactly one refresh reached the server"
            case .autoLogin: "a new object graph over the same store is signed in without a login"
            case .tokensRevoked: "after logout the server refuses the old access and refresh tokens"
            case .nothingPrinted: "no secret was printed"
            }
        }
    }

    private var observations: [Name: (holds: Bool, observed: String)] = [:]

    mutating func record(_ name: Name, _ holds: Bool, _ observed: String) {
        observations[name] = (holds, observed)
    }

    /// All claims. Those without an observation say why.
    func list(requests: Int, missing: String) -> [Claim] {
        Name.allCases.map { name in
            let (holds, observed) = observations[name] ?? (false, missing)
            return Claim(name: name.text(requests: requests), holds: holds, observed: observed)
        }
    }
}

/// Searches the output for the secrets of a run.
struct SecretSearch: Sendable {
    /// A shorter text can occur by chance.
    private static let minimumLength = 8

    private(set) var secrets: Set<String> = []

    mutating func add(_ bundle: TokenBundle) {
        add(bundle.accessToken)
        if let refreshToken = bundle.refreshToken { add(refreshToken) }
    }

    /// Adds a secret, and its parts if it is a JSON Web Token (RFC 7515 §3.1).
    mutating func add(_ secret: String) {
        let parts = secret.split(separator: ".").map(String.init)
        secrets.formUnion(([secret] + parts).filter { $0.count >= Self.minimumLength })
    }

    func count(in text: String) -> Int {
        secrets.count { text.contains($0) }
    }
}
