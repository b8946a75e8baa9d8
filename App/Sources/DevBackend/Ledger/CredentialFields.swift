import HTTPTypes

/// The names of header fields that commonly carry credentials, and the one that the configuration adds.
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
