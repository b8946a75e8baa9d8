/// Something that goes when the application is deleted, unlike the Keychain: a flag in `UserDefaults`, or a file.
///
/// A ``KeychainTokenStore`` that has one, and does not find it, is in a fresh installation: it removes the items that
/// an earlier one has left, then sets the marker. A marker that is found is believed at once. One that is not found
/// is believed only if protected data is available, since before the first unlock nothing is found; until then, and
/// while it cannot be read or set, the store is *unavailable* and removes nothing.
///
/// - Important: **An update that brings the marker in finds it in no installation there is**, and would sign everybody
///   out. Let `isSet` look at something older as well that all of them have.
///
/// Give each account a marker of its own. Where an extension shares the items, keep the marker in what they share
/// (the defaults of the app group), or the extension's first launch ends the session of the application.
public struct InstallMarker: Sendable {
    let isSet: @Sendable () throws -> Bool
    let set: @Sendable () throws -> Void

    /// Creates a marker. Both closures may block, and are called on a thread that may be blocked.
    ///
    /// ```swift
    /// InstallMarker(
    ///     isSet: { UserDefaults.standard.bool(forKey: "has-launched") },
    ///     set: { UserDefaults.standard.set(true, forKey: "has-launched") }
    /// )
    /// ```
    ///
    /// - Parameters:
    ///   - isSet: Whether the marker is there. It throws if it cannot say.
    ///   - set: Makes the marker. The store asks afterwards whether it is there.
    public init(
        isSet: @escaping @Sendable () throws -> Bool,
        set: @escaping @Sendable () throws -> Void
    ) {
        self.isSet = isSet
        self.set = set
    }
}
