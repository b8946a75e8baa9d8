import AuthInterface
import ConcurrencyPrimitives
import Foundation
import Storage
import Testing
import TokenRefresh

/// The article *Followers*: a watch and its phone, with the functions of the article.
@Suite(.timeLimit(.minutes(10))) struct FollowersTests {
    @Test func `a watch gets what the phone stores and the end of the session, never the refresh token`() async throws {
        let (store, watch) = (MemoryTokenStore(), WatchSession(askPhone: {}))
        let messages = Locked<[String]>([])
        let sending = Task {
            try await sendSession(from: store) { message in
                messages.withLock { $0.append(String(decoding: message, as: UTF8.self)) }
                do { try watch.received(message) } catch { try watch.receivedEnd(message) }
            }
        }
        let bundle = TokenBundle(accessToken: "access-1", refreshToken: "refresh-1", signedInAt: Date())
        await store.update { _ in .active(bundle) }
        while watch.follower.validToken == nil, !Task.isCancelled { await Task.yield() }
        #expect(watch.follower.validToken?.value == "access-1")
        let end = SessionTombstone(session: bundle.session, reason: .byUser, date: Date())
        await store.update { _ in .tombstone(end) }
        while watch.follower.state != .signedOut(.byUser), !Task.isCancelled { await Task.yield() }
        #expect(messages.withLock { $0.allSatisfy { !$0.contains("refresh-1") } })
        sending.cancel()
        _ = try? await sending.value
    }
}
