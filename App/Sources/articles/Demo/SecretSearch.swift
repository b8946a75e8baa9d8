import AuthInterface

/// The secrets a run has seen, to look for in what it printed.
struct SecretSearch: Sendable {
    /// What is shorter than this is found by chance.
    static let shortest = 8

    private(set) var secrets: Set<String> = []

    /// Takes the tokens of a bundle.
    mutating func add(_ bundle: TokenBundle) {
        add(bundle.accessToken)
        if let refreshToken = bundle.refreshToken { add(refreshToken) }
    }

    /// Takes a secret, and the parts of one that has parts, as a JSON Web Token has (RFC 7515 §3.1).
    mutating func add(_ secret: String) {
        let parts = secret.split(separator: ".").map(String.init)
        secrets.formUnion(([secret] + parts).filter { $0.count >= Self.shortest })
    }

    /// How many of the secrets a text holds.
    func count(in text: String) -> Int {
        secrets.count { text.contains($0) }
    }
}
