/// An identity provider whose tokens the server accepts for a login.
public struct SocialProvider: Sendable, Hashable, RawRepresentable, Codable, CustomStringConvertible {
    /// The name of the provider at the server.
    public let rawValue: String

    /// Creates a provider.
    ///
    /// - Parameter rawValue: The name of the provider at the server.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Sign in with Apple.
    public static let apple = SocialProvider(rawValue: "apple")

    /// Kakao Login.
    public static let kakao = SocialProvider(rawValue: "kakao")

    /// The name of the provider at the server.
    public var description: String { rawValue }
}
