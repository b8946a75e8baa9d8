import NetworkCore

extension AuthenticationPolicy {
    /// The default policy with changes.
    static func with(_ change: (inout Self) -> Void) -> Self {
        var policy = Self()
        change(&policy)
        return policy
    }
}
