/// One thing that can be set, by the same name everywhere: `base-url` is `--base-url`, `LATCHKEY_BASE_URL` and
/// `"base-url"`.
public enum Setting: String, Sendable, CaseIterable {
    /// Where the API is: an address with scheme `https`, or `http` on this machine.
    case baseURL = "base-url"

    /// Where the session is kept: `file` or `memory`.
    case store

    /// The folder of the file store.
    case storePath = "store-path"

    /// How tokens are renewed: `rest` or `oauth2`.
    case refresh

    /// What the server forgives when a refresh token comes again because a response was lost: `none`, a number of
    /// seconds, or `key`.
    case replay

    /// The status that means "the access token is no longer good".
    case expiredStatus = "expired-status"

    /// The OAuth 2.0 client identifier.
    case clientID = "client-id"

    /// The OAuth 2.0 client secret. There is no flag for it: other users of the machine see a process's arguments.
    case clientSecret = "client-secret"

    /// The flag, where there is one.
    public var flag: String? { self == .clientSecret ? nil : "--\(rawValue)" }

    /// The environment variable.
    public var variable: String { "LATCHKEY_" + rawValue.uppercased().replacing("-", with: "_") }
}

/// A configuration that cannot be used. It says in one line what to do, without a secret.
public struct ConfigurationError: Error, Sendable, CustomStringConvertible {
    /// What is wrong and what to do.
    public let description: String

    /// Whether a flag is wrong, and not the environment or a file.
    public let isUsage: Bool

    init(_ description: String, isUsage: Bool = false) {
        self.description = description
        self.isUsage = isUsage
    }
}
