import HTTPTypes

/// One request as the server saw it. Holds no token, no body, no query and no value of any header field.
public struct JournalEntry: Sendable, Hashable, Codable {
    /// The place in the order of arrival, from 1.
    public let sequence: Int
    /// The method, in capitals.
    public let method: String
    /// The path as it was sent, without its query; cut after 1,024 characters.
    public let path: String
    /// The request's identifier, as in `meta.requestId`.
    public let requestID: String
    /// Milliseconds from the server's start to the request's arrival, on a monotonic clock.
    public let arrivedAt: Double
    /// The credential-bearing header fields that were present, by their lower-case names.
    public let credentialFields: [String]
    /// The status answered; nil while the request is in progress and when the connection was closed instead.
    public internal(set) var status: Int?
    /// Milliseconds from the server's start to the moment the answer was ready to be sent; nil while in progress.
    public internal(set) var completedAt: Double?
    /// The rotation number of the access or refresh token that was presented, when this server had issued it.
    public internal(set) var tokenGeneration: Int?

    /// Whether any credential-bearing header field was present.
    public var carriedCredentials: Bool { !credentialFields.isEmpty }
}

/// The header fields that carry credentials, by the names in use across the documents and the field.
struct CredentialFields: Sendable {
    private let names: Set<String>

    init(accessTokenField: String?) {
        var names: Set<String> = [
            "authorization", "proxy-authorization", "cookie", "accesstoken", "refreshtoken", "access-token",
            "refresh-token", "x-access-token", "x-refresh-token", "x-auth-token", "x-api-key",
        ]
        if let accessTokenField { names.insert(accessTokenField.lowercased()) }
        self.names = names
    }

    func present(in fields: HTTPFields) -> [String] {
        Set(fields.map(\.name.canonicalName)).intersection(names).sorted()
    }
}
