#if PostgreSQL
import AuthInterface
import ConcurrencyPrimitives
import Foundation
import PostgreSQLStorage
import Storage
import TokenRefresh

/// Finds every token refused until the generation it has been told is reached.
struct FleetPeer {
    let connection: String
    let account: String
    let goal: Int

    func run() async {
        let line = TestLine()
        let clock = SystemTimeSource()
        let store = PostgreSQLTokenStore(
            connection: connection,
            account: account,
            cipher: UnencryptedTokenCipher()
        )
        let session = TokenRefreshCoordinator(
            store: store,
            handler: line,
            policy: policy,
            observer: { Self.report($0, to: line) }
        )
        line.say("ready")
        await line.go()
        var token: SessionToken?
        while token.map({ $0.generation < goal }) ?? true {
            do {
                if let refused = token {
                    token = try await session.replacement(for: refused)
                } else {
                    token = try await session.token()
                }
            } catch {
                line.say("asked in vain: \(error)")
                if case .signedOut = session.state { break }
                let pause = (error as? AuthenticationError)?.retryAfter ?? .milliseconds(100)
                try? await clock.sleep(until: clock.uptime + pause)
            }
        }
        line.say("done \(token?.generation ?? -1) \(token?.value ?? "none") \(token?.refreshToken ?? "none")")
        await line.end()
    }

    /// Quick to give up and quick to try again; every token may be refused, however fresh it is.
    private var policy: TokenRefreshPolicy {
        var policy = TokenRefreshPolicy()
        policy.backoff = Backoff(base: .milliseconds(100), limit: .milliseconds(400), floor: .milliseconds(50))
        policy.freshness = .zero
        return policy
    }

    private static func report(_ event: SessionEvent, to line: TestLine) {
        switch event {
        case .refreshStarted(_, let generation): line.say("started \(generation)")
        case .refreshed(_, let generation): line.say("refreshed \(generation)")
        case .adopted(_, let generation): line.say("adopted \(generation)")
        case .refreshFailed(_, let error, _):
            line.say("failed \((error.cause as? TokenStoreError)?.code.rawValue ?? error.code.rawValue)")
        case .storeFailed(let error): line.say("unsaved \(error.code)")
        case .signedOut(let reason): line.say("signed out \(reason)")
        default: break
        }
    }
}
#endif
