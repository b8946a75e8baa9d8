import AuthInterface

/// Searches the output for the secrets of a run.
struct SecretSearch: Sendable {
    /// A shorter text can occur by chance.
    private static let minimumLength = 8

    private(set) var secrets: Set<String> = []

    /// Adds the tokens of a bundle.
    mutating func add(_ bundle: TokenBundle) {
        add(bundle.accessToken)
        if let refreshToken = bundle.refreshToken { add(refreshToken) }
    }

    /// Adds a secret, and its parts if it is a JSON Web Token (RFC 7515 §3.1).
    mutating func add(_ secret: String) {
        let parts = secret.split(separator: ".").map(String.init)
        secrets.formUnion(([secret] + parts).filter { $0.count >= Self.minimumLength })
    }

    /// The number of secrets that a text contains.
    func count(in text: String) -> Int {
        secrets.count { text.contains($0) }
    }
}
