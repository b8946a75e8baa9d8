public import AuthInterface
public import Foundation

/// Where the tokens of this account were before, for a ``KeychainTokenStore`` to move them from.
///
/// They are moved by the first `load()` that finds none in the store's own place, in an order that no crash and no
/// error can lose them by: the new item is saved and read back, then the old ones are removed. What a crash leaves of
/// the old ones goes at the next call. Signing out removes the old ones too, and first, so that they cannot come back.
public struct KeychainPredecessor: Sendable {
    typealias Reader = @Sendable (Data) throws -> TokenBundle

    enum Layout: Sendable {
        case item(KeychainLocation, Reader?)
        case separateTokens(access: KeychainLocation, refresh: KeychainLocation)
    }

    let layout: Layout

    /// One item that a ``KeychainTokenStore`` has saved at another place.
    ///
    /// It may be the same service and account without the access group that the store has now.
    ///
    /// - Parameter location: Where it is.
    /// - Returns: The predecessor.
    public static func bundle(at location: KeychainLocation) -> KeychainPredecessor {
        KeychainPredecessor(layout: .item(location, nil))
    }

    /// One item in a format of your own. It may be in the place where the store is now: then it is changed there.
    ///
    /// - Parameters:
    ///   - location: Where it is.
    ///   - reader: Makes a bundle of its data. What it throws makes the item `corrupt`, and is not passed on: it might
    ///     quote the data.
    /// - Returns: The predecessor.
    public static func bundle(
        at location: KeychainLocation,
        readBy reader: @escaping @Sendable (Data) throws -> TokenBundle
    ) -> KeychainPredecessor {
        KeychainPredecessor(layout: .item(location, reader))
    }

    /// Two items, each with one token as UTF-8.
    ///
    /// They become a new session that does not know when its access token expires. If only the access token is there,
    /// it is a session that cannot be refreshed; if only the refresh token, one whose access token has expired.
    ///
    /// - Parameters:
    ///   - access: Where the access token is.
    ///   - refresh: Where the refresh token is.
    /// - Returns: The predecessor.
    public static func separateTokens(access: KeychainLocation, refresh: KeychainLocation) -> KeychainPredecessor {
        KeychainPredecessor(layout: .separateTokens(access: access, refresh: refresh))
    }

    /// The items in the order in which they are removed. The refresh token goes last: as long as it is there, so is
    /// the session, whole; and when it is gone, nothing else is left.
    var locations: [KeychainLocation] {
        switch layout {
        case .item(let location, _): [location]
        case .separateTokens(let access, let refresh): [access, refresh]
        }
    }

    /// The predecessor with other names for its places.
    func renamed(_ rename: (KeychainLocation) -> KeychainLocation) -> KeychainPredecessor {
        switch layout {
        case .item(let location, let reader): KeychainPredecessor(layout: .item(rename(location), reader))
        case .separateTokens(let access, let refresh):
            KeychainPredecessor(layout: .separateTokens(access: rename(access), refresh: rename(refresh)))
        }
    }
}
