#if canImport(Security)
extension KeychainTokenStore {
    /// Creates a store. The Keychain is not accessed before the first call.
    ///
    /// ```swift
    /// KeychainTokenStore(at: KeychainLocation(service: "org.example.articles")) {
    ///     await UIApplication.shared.isProtectedDataAvailable
    /// }
    /// ```
    /// - Parameters:
    ///   - location: The location of the item.
    ///   - accessibility: When it can be read. The next save changes an item with another accessibility.
    ///   - predecessors: Earlier locations of the tokens, newest first.
    ///   - installMarker: Detects a new installation, in which items of an earlier one are removed. `nil`: items
    ///     survive the deletion of the application.
    ///   - isProtectedDataAvailable: Whether the device has been unlocked, so that "not found" is certain. There is no
    ///     default, because a wrong one signs users out on iOS. Return `true` on a Mac.
    public init(
        at location: KeychainLocation, accessibility: KeychainAccessibility = .afterFirstUnlockThisDeviceOnly,
        predecessors: [KeychainPredecessor] = [], installMarker: InstallMarker? = nil,
        isProtectedDataAvailable: @escaping @Sendable () async -> Bool
    ) {
        let item = TokenItem(
            items: SecItemKeychain(), location: location, accessibility: accessibility, predecessors: predecessors,
            marker: installMarker)
        self.init(item: item, isProtectedDataAvailable: isProtectedDataAvailable)
    }
}
#endif
