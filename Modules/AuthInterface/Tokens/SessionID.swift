/// The identity of one login.
///
/// It is made up at sign-in, kept through every refresh, and never sent anywhere. It may be logged.
public struct SessionID: RandomIdentifier, Codable {
    /// The identity as text.
    public let rawValue: String

    /// Creates an identity that was stored.
    ///
    /// - Parameter rawValue: The identity as text.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }
}
