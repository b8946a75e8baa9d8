import Foundation

extension TokenBundle {
    private enum CodingKeys: String, CodingKey {
        case accessToken, refreshToken, expiresAt, clockSkew, session, generation, receivedAt, signedInAt, binding
        case subject, scope, audienceTokens, accessGeneration
        // The name in stored data.
        case refreshIntent = "pendingRefresh"
    }

    /// Decodes a bundle. What an older version has stored has no tokens of other audiences.
    ///
    /// - Throws: `DecodingError` when a field is missing or invalid.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        let others = try fields.decodeIfPresent([String: AccessToken].self, forKey: .audienceTokens) ?? [:]
        self.init(
            accessToken: try fields.decode(String.self, forKey: .accessToken),
            refreshToken: try fields.decodeIfPresent(String.self, forKey: .refreshToken),
            expiresAt: try fields.decodeIfPresent(Date.self, forKey: .expiresAt),
            clockSkew: try fields.decode(TimeInterval.self, forKey: .clockSkew),
            session: try fields.decode(SessionID.self, forKey: .session),
            generation: try fields.decode(Int.self, forKey: .generation),
            receivedAt: try fields.decodeIfPresent(Date.self, forKey: .receivedAt),
            refreshIntent: try fields.decodeIfPresent(RefreshIntent.self, forKey: .refreshIntent),
            signedInAt: try fields.decodeIfPresent(Date.self, forKey: .signedInAt),
            binding: try fields.decodeIfPresent(TokenBinding.self, forKey: .binding),
            subject: try fields.decodeIfPresent(TokenSubject.self, forKey: .subject),
            scope: try fields.decodeIfPresent(String.self, forKey: .scope),
            audienceTokens: Dictionary(uniqueKeysWithValues: others.map { (TokenAudience($0.key), $0.value) }),
            accessGeneration: try fields.decodeIfPresent(Int.self, forKey: .accessGeneration)
        )
    }

    /// Encodes a bundle. Without tokens of other audiences it is as an older version writes it.
    ///
    /// - Throws: What the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(accessToken, forKey: .accessToken)
        try fields.encodeIfPresent(refreshToken, forKey: .refreshToken)
        try fields.encodeIfPresent(expiresAt, forKey: .expiresAt)
        try fields.encode(clockSkew, forKey: .clockSkew)
        try fields.encode(session, forKey: .session)
        try fields.encode(generation, forKey: .generation)
        try fields.encodeIfPresent(receivedAt, forKey: .receivedAt)
        try fields.encodeIfPresent(refreshIntent, forKey: .refreshIntent)
        try fields.encodeIfPresent(signedInAt, forKey: .signedInAt)
        try fields.encodeIfPresent(binding, forKey: .binding)
        try fields.encodeIfPresent(subject, forKey: .subject)
        try fields.encodeIfPresent(scope, forKey: .scope)
        if !audienceTokens.isEmpty {
            let others = Dictionary(uniqueKeysWithValues: audienceTokens.map { ($0.key.name, $0.value) })
            try fields.encode(others, forKey: .audienceTokens)
        }
        if accessGeneration != generation { try fields.encode(accessGeneration, forKey: .accessGeneration) }
    }
}
