public import AuthInterface
public import Foundation

/// An earlier location of the tokens, from which a ``KeychainTokenStore`` moves them.
///
/// The first `load()` that finds no item at the store's own location moves them. The new item is saved and read back,
/// then the old ones are removed, so that no crash or error loses them. Old items that remain after a crash are removed
/// by the next call. A sign-out removes the old ones first, so that they are not found again.
public struct KeychainPredecessor: Sendable {
    typealias Reader = @Sendable (Data) throws -> TokenBundle

    enum Layout: Sendable {
        case item(KeychainLocation, Reader?)
        case separateTokens(access: KeychainLocation, refresh: KeychainLocation)
    }

    let layout: Layout

    /// One item that a ``KeychainTokenStore`` has saved at another location.
    ///
    /// It may be the same service and account without the access group that the store has now.
    public static func bundle(at location: KeychainLocation) -> KeychainPredecessor {
        KeychainPredecessor(layout: .item(location, nil))
    }

    /// One item in a format of the application's own. If it is at the store's own location, it is converted there. If
    /// the reader of its data throws, the item is `corrupt`; the error is dropped, because it might quote the data.
    public static func bundle(
        at location: KeychainLocation, readBy reader: @escaping @Sendable (Data) throws -> TokenBundle
    ) -> KeychainPredecessor { KeychainPredecessor(layout: .item(location, reader)) }

    /// Two items, each with one token as UTF-8.
    ///
    /// They become a new session without a known expiry. With the access token only, the session cannot be refreshed;
    /// with the refresh token only, its access token has expired.
    public static func separateTokens(access: KeychainLocation, refresh: KeychainLocation) -> KeychainPredecessor {
        KeychainPredecessor(layout: .separateTokens(access: access, refresh: refresh))
    }

    /// The items in the order of their removal. The refresh token is removed last: while it is stored, the session is
    /// complete, and after that nothing is left.
    var locations: [KeychainLocation] {
        switch layout {
        case .item(let location, _): [location]
        case .separateTokens(let access, let refresh): [access, refresh]
        }
    }

    func renamed(_ rename: (KeychainLocation) -> KeychainLocation) -> KeychainPredecessor {
        switch layout {
        case .item(let location, let reader): KeychainPredecessor(layout: .item(rename(location), reader))
        case .separateTokens(let access, let refresh):
            KeychainPredecessor(layout: .separateTokens(access: rename(access), refresh: rename(refresh)))
        }
    }
}
