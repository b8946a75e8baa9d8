import AuthInterface

@testable import TokenRefresh

/// The events of the lease, by the names that the tests have for them.
extension RefreshEvent {
    static func leased(_ id: AttemptID, identity: String? = nil) -> RefreshEvent {
        .lease(.taken(id, identity: identity))
    }

    static func leaseFailed(_ id: AttemptID, _ error: TokenStoreError) -> RefreshEvent { .lease(.failed(id, error)) }

    static func leaseHeld(_ holder: LeaseHolder) -> RefreshEvent { .lease(.held(by: holder)) }

    static func leaseLost(_ id: AttemptID) -> RefreshEvent { .lease(.lost(id)) }
}
