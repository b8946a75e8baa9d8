#if canImport(Security)
extension KeychainTokenStore {
    /// Creates a store. The Keychain is not asked before the first call.
    ///
    /// ```swift
    /// KeychainTokenStore(at: KeychainLocation(service: "org.example.articles")) {
    ///     await UIApplication.shared.isProtectedDataAvailable
    /// }
    /// ```
    /// - Parameters:
    ///   - location: Where the item is.
    ///   - accessibility: When it can be read. An item that can be read at other times is changed at the next save.
    ///   - predecessors: Where the tokens were before, newest first.
    ///   - installMarker: What tells a fresh installation, which removes what an earlier one left. Without it, items
    ///     survive the deletion of the application.
    ///   - isProtectedDataAvailable: Whether the device has been unlocked, so that "not found" can be believed. There
    ///     is no default, for on iOS a wrong one signs users out. Return `true` on a Mac.
    public init(
        at location: KeychainLocation,
        accessibility: KeychainAccessibility = .afterFirstUnlockThisDeviceOnly,
        predecessors: [KeychainPredecessor] = [],
        installMarker: InstallMarker? = nil,
        isProtectedDataAvailable: @escaping @Sendable () async -> Bool
    ) {
        let item = TokenItem(
            items: SecItemKeychain(),
            location: location,
            accessibility: accessibility,
            predecessors: predecessors,
            marker: installMarker
        )
        self.init(item: item, isProtectedDataAvailable: isProtectedDataAvailable)
    }
}
#endif
