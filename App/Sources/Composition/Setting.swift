/// A setting. It has one name everywhere: `base-url` is `--base-url`, `LATCHKEY_BASE_URL` and `"base-url"`.
public enum Setting: String, Sendable, CaseIterable {
    /// The base URL of the API, with scheme `https`, or `http` on this machine.
    case baseURL = "base-url"

    /// Where the session is stored: `file` or `memory`.
    case store

    /// The folder of the file store.
    case storePath = "store-path"

    /// How tokens are refreshed: `rest` or `oauth2`.
    case refresh

    /// Which replays of a refresh the server tolerates after a lost response: `none`, `key`, or a number of seconds.
    case replay

    /// The status of the response to an expired access token.
    case expiredStatus = "expired-status"

    /// The OAuth 2.0 client identifier.
    case clientID = "client-id"

    /// The OAuth 2.0 client secret. It has no flag: other users of the machine can read a process's arguments.
    case clientSecret = "client-secret"

    /// The flag; `nil` for a setting without one.
    public var flag: String? { self == .clientSecret ? nil : "--\(rawValue)" }

    /// The environment variable.
    public var variable: String { "LATCHKEY_" + rawValue.uppercased().replacing("-", with: "_") }
}
