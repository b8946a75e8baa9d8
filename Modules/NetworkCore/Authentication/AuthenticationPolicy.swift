/// Where tokens are put, who may see them, and which status says that one has expired.
public struct AuthenticationPolicy: Sendable, Hashable {
    /// Where tokens are put.
    public var placement: TokenPlacement

    /// The origins that may see tokens (G15). `nil`: the base URL's, and no other.
    public var origins: Set<Origin>?

    /// The statuses that mean "the access token is no longer good" (row T7).
    public var expiredStatuses: Set<Int>

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - placement: Where tokens are put.
    ///   - origins: The origins that may see tokens; the base URL's if left out.
    ///   - expiredStatuses: The statuses that mean "the access token is no longer good".
    public init(
        placement: TokenPlacement = .bearer,
        origins: Set<Origin>? = nil,
        expiredStatuses: Set<Int> = [401]
    ) {
        self.placement = placement
        self.origins = origins
        self.expiredStatuses = expiredStatuses
    }
}
