import AuthInterface
import ConcurrencyPrimitives
import Foundation
import Storage
import TokenRefresh

/// An engine over a session in a file that several processes share.
///
/// | line in | line out |
/// |---|---|
/// | `token` | `token NAME` or `token CODE` |
/// | `refuse COUNT` | `refused` and the distinct outcomes of as many requests whose token was refused |
/// | `spin COUNT` | `spun` and the distinct failures of as many refused requests one after the other |
/// | `signOut` | `signedOut` |
/// | `state` | `state STATE` |
/// | `tokens ACCESS REFRESH`, `rejected`, `unavailable` | none: the response to the last `refresh TOKEN` |
/// | `exit` | none: the process ends |
///
/// It also writes `refresh TOKEN` when its handler is called, and `event NAME` for each event of the engine.
struct RefreshPeer: Sendable {
    private let engine: TokenRefreshCoordinator
    private let handler = TestRefreshHandler()
    private let last = Locked<SessionToken?>(nil)

    init(folder: URL) {
        var policy = TokenRefreshPolicy()
        // A new token may be refused at once.
        policy.freshness = .zero
        engine = TokenRefreshCoordinator(
            store: FileTokenStore(folder: folder),
            handler: handler,
            policy: policy,
            observer: { StandardIO.write("event", Mirror(reflecting: $0).children.first?.label ?? "\($0)") }
        )
    }

    func run() async {
        for await line in StandardIO.lines() {
            if line == "exit" { return }
            perform(line)
        }
    }

    private func perform(_ line: String) {
        let words = line.split(separator: " ").map(String.init)
        let count = words.count > 1 ? Int(words[1]) ?? 0 : 0
        switch words.first {
        case "token": Task { StandardIO.write("token", await outcome { try await engine.token() }) }
        case "refuse": Task { await refuse(count) }
        case "spin": Task { await spin(count) }
        case "signOut":
            Task {
                try? await engine.signOut()
                StandardIO.write("signedOut")
            }
        case "state": StandardIO.write("state", "\(engine.state)")
        case "tokens" where words.count == 3:
            handler.respond(.success(TokenRefreshResult(accessToken: words[1], refreshToken: words[2])))
        case "rejected": handler.respond(.failure(.rejected))
        default: handler.respond(.failure(.unavailable))
        }
    }

    private func refuse(_ count: Int) async {
        guard let refused = last.withLock({ $0 }) else { return StandardIO.write("refused", "nothing") }
        let outcomes = await withTaskGroup(of: String.self) { group in
            for _ in 0..<count {
                group.addTask { await outcome { try await engine.replacement(for: refused) } }
            }
            return await group.reduce(into: Set()) { $0.insert($1) }
        }
        StandardIO.write("refused", outcomes.sorted().joined(separator: ","))
    }

    private func spin(_ count: Int) async {
        var failures: Set<String> = []
        for _ in 0..<count {
            do {
                _ = try await engine.replacement(for: engine.token())
            } catch {
                failures.insert((error as? AuthenticationError)?.code.rawValue ?? "\(type(of: error))")
            }
        }
        StandardIO.write("spun", failures.sorted().joined(separator: ","))
    }

    private func outcome(of request: () async throws -> SessionToken) async -> String {
        do {
            let token = try await request()
            last.withLock { $0 = token }
            return token.value
        } catch let error as AuthenticationError {
            return error.code.rawValue
        } catch {
            return "\(type(of: error))"
        }
    }
}

/// Asks the test for new tokens, and waits for its response.
private final class TestRefreshHandler: TokenRefreshHandler {
    private let waiting = Locked<Race<Result<TokenRefreshResult, TokenRefreshError>>?>(nil)

    func refresh(_ request: TokenRefreshRequest) async throws -> TokenRefreshResult {
        let refreshToken = request.refreshToken
        let response = Race<Result<TokenRefreshResult, TokenRefreshError>>()
        waiting.withLock { $0 = response }
        StandardIO.write("refresh", refreshToken)
        return try await response.value().get()
    }

    func respond(_ result: Result<TokenRefreshResult, TokenRefreshError>) {
        waiting.withLock { $0 }?.end(result)
    }
}

/// An authorization server in a folder that many processes share: it accepts each refresh token once, and one refresh
/// at a time.
///
/// `mkdir` is its transaction: of many processes that make a folder, one succeeds.
struct FolderTokenServer {
    let folder: URL

    struct Refusal: Error, CustomStringConvertible {
        let description: String
    }

    /// Refreshes as the engine does: lease, read, intent, call, write, release.
    func refresh(_ store: any SharedTokenStore, times count: Int) async throws {
        for _ in 0..<count {
            let lease = try await store.lease(waitingAtMost: .seconds(3_600))
            guard let old = try await store.read().bundle else { throw Refusal(description: "signed out") }
            let intent = RefreshIntent(
                idempotencyKey: UUID().uuidString, owner: .current, date: Date(), lease: lease.identity)
            try await replace(old, by: old.with(refreshIntent: intent), in: store)
            let next = TokenBundle.large(try exchange(old))
            try await replace(old, by: next, in: store)
            await lease.release()
        }
        StandardIO.write("refreshed \(count)")
    }

    private func replace(_ old: TokenBundle, by new: TokenBundle, in store: any SharedTokenStore) async throws {
        let isDone = Locked(false)
        try await store.update { found in
            guard case .success(.active(let stored)) = found, stored.hasSameTokens(as: old) else { return nil }
            isDone.withLock { $0 = true }
            return .active(new)
        }
        guard isDone.withLock({ $0 }) else { throw Refusal(description: "the session changed under the lease") }
    }

    private func exchange(_ bundle: TokenBundle) throws -> Int {
        guard make("refreshing") else { throw Refusal(description: "two refreshes at once") }
        defer { rmdir(folder.appendingPathComponent("refreshing").path) }
        guard make("spent-\(bundle.generation)") else {
            throw Refusal(description: "refresh token \(bundle.generation) used again")
        }
        return bundle.generation + 1
    }

    private func make(_ name: String) -> Bool {
        mkdir(folder.appendingPathComponent(name).path, 0o700) == 0
    }
}

/// A disk in memory that is mounted and unmounted, in a mount namespace of this process.
///
/// It keeps its content while it is unmounted: it stays mounted in a folder beside the mount point.
struct MemoryDisk {
    let mountPoint: URL

    struct NotPossible: Error, CustomStringConvertible {
        let description: String
    }

    init(at mountPoint: URL) {
        self.mountPoint = mountPoint
    }

    func perform(_ command: String) throws {
        #if os(Linux)
        switch command {
        case "mount":
            let content = mountPoint.appendingPathExtension("content")
            if !FileManager.default.fileExists(atPath: content.path) {
                try FileManager.default.createDirectory(at: content, withIntermediateDirectories: false)
                try check(mount("none", content.path, "tmpfs", 0, nil))
            }
            try check(mount(content.path, mountPoint.path, nil, UInt(MS_BIND), nil))
        case "mount small": try check(mount("none", mountPoint.path, "tmpfs", 0, "size=64k,nr_inodes=64"))
        case "mount alone": try check(mount("none", mountPoint.path, "tmpfs", 0, nil))
        case "unmount now": try check(umount2(mountPoint.path, 0))
        default: try check(umount2(mountPoint.path, Int32(MNT_DETACH)))
        }
        #endif
    }

    private func check(_ result: Int32) throws {
        if result != 0 { throw NotPossible(description: String(cString: strerror(errno))) }
    }
}
