/// Somebody whose word our server takes for who a user is (row F2).
public struct SocialProvider: Sendable, Hashable, RawRepresentable, Codable, CustomStringConvertible {
    /// The name the server knows the provider by.
    public let rawValue: String

    /// Names a provider.
    ///
    /// - Parameter rawValue: The name the server knows the provider by.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Sign in with Apple.
    public static let apple = SocialProvider(rawValue: "apple")

    /// Kakao Login.
    public static let kakao = SocialProvider(rawValue: "kakao")

    /// The name the server knows the provider by.
    public var description: String { rawValue }
}
