import AuthInterface
import Foundation
import NetworkCore
import Storage
import TokenRefresh

// The samples of the article *Followers*.

func ownedSession(sharing folder: URL, handler: any TokenRefreshHandler) -> TokenRefreshCoordinator {
    let store = FollowedTokenStore(
        FileTokenStore(application: "notes"), publishing: FileTokenStore(folder: folder, access: .readableByGroup))
    return TokenRefreshCoordinator(store: store, handler: handler)
}

func followedNotes(in folder: URL, of api: NetworkClient) -> any NetworkService {
    let follower = SessionFollower(FileTokenStore(folder: folder, access: .readableByGroup))
    return api.authenticated(by: follower)
}

final class WatchSession: Sendable {
    let follower: SessionFollower

    init(askPhone: @escaping @Sendable () -> Void) {
        follower = SessionFollower(bundleNeeded: askPhone)
    }

    func received(_ message: Data) throws {
        follower.follow(try JSONDecoder().decode(TokenBundle.self, from: message))
    }

    func receivedEnd(_ message: Data) throws {
        follower.follow(.tombstone(try JSONDecoder().decode(SessionTombstone.self, from: message)))
    }
}

func sendSession(from store: any SharedTokenStore, to watch: @Sendable (Data) throws -> Void) async throws {
    var changes = store.changes.makeAsyncIterator()
    repeat {
        switch try await store.read() {
        case .active(let bundle): try watch(JSONEncoder().encode(bundle.withoutRefreshToken))
        case .tombstone(let end): try watch(JSONEncoder().encode(end))
        case .empty: break
        }
    } while await changes.next() != nil
}
