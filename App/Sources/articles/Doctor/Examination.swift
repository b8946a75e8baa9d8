import AuthInterface
import Composition
import DataAPI
import Foundation
import NetworkCore

/// The checks of `articles doctor`. None of them refreshes, starts or ends a session: the store is read without the
/// refresh engine, and requests are sent by the client that adds no tokens.
struct Examination {
    /// How long to wait for the lease. A refresh rarely takes longer.
    private static let leaseLimit: Duration = .seconds(2)

    /// How long to wait for a response.
    static let responseLimit: Duration = .seconds(30)

    /// How far the device's clock may differ from the server's without a warning. `Date` counts whole seconds.
    private static let clockTolerance: TimeInterval = 30

    let graph: AppGraph
    var checks: [Check] = []
    var stored: StoredSession?
    /// How far the server's clock is ahead of this one. `nil`: not known.
    var clockSkew: TimeInterval?
    var isReachable = false

    init(_ graph: AppGraph) {
        self.graph = graph
    }

    private var baseURL: URL { graph.configuration.baseURL }

    /// Performs all checks.
    mutating func perform() async {
        await checkStore()
        await checkWatch()
        await checkLease()
        await checkServer()
        await checkToken()
    }

    // MARK: The store

    private mutating func checkStore() async {
        let location = graph.configuration.storeLocation
        guard let store = graph.sharedStore else {
            if let source = EnvironmentToken.source {
                checks.append(.ok("store", "not used: the access token is that of \(source)"))
                stored = (try? await graph.store.load()).map { $0.map { .active($0) } ?? .empty }
            } else {
                checks.append(.warning("store", "in memory: the session ends with the program", "use --store file"))
                stored = .empty
            }
            return
        }
        do {
            let stored = try await store.read()
            self.stored = stored
            try await checkIsWritable(store, location)
        } catch {
            let failure = Failure(error)
            checks.append(.failure("store", failure.message))
        }
    }

    private mutating func checkIsWritable(_ store: any SharedTokenStore, _ location: String) async throws {
        let folder = (location as NSString).deletingLastPathComponent
        guard FileManager.default.fileExists(atPath: folder) else {
            let parent = (folder as NSString).deletingLastPathComponent
            let message = "\(folder) does not exist yet; the first sign-in creates it"
            return checks.append(
                FileManager.default.isWritableFile(atPath: existingParent(of: parent))
                    ? .ok("store", message)
                    : .failure("store", "\(folder) cannot be created", "make \(parent) writable, or set --store-path"))
        }
        if let problem = Self.problem(writingIn: folder) { return checks.append(problem) }
        // Takes the write lock, and leaves the content as it is.
        try await store.update { _ in nil }
        let mode = (try? FileManager.default.attributesOfItem(atPath: location))?[.posixPermissions] as? Int
        let facts = mode.map { "readable, writable, mode \(String($0, radix: 8))" } ?? "writable, nothing stored"
        checks.append(.ok("store", "\(location) (\(facts))"))
    }

    /// Writes as much as a session has into a file that is removed at once: a full disk, and one that is mounted
    /// read-only, have folders with every right.
    static func problem(writingIn folder: String) -> Check? {
        let path = folder + "/.doctor-\(UUID().uuidString)"
        let number = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        var problem = number < 0 ? errno : 0
        if number >= 0 {
            unlink(path)
            let bytes = [UInt8](repeating: 0, count: 16_384)
            var written = 0
            while problem == 0, written < bytes.count {
                let count = bytes[written...].withUnsafeBytes { write(number, $0.baseAddress, $0.count) }
                if count < 0 { problem = errno } else { written += count }
            }
            if problem == 0, fsync(number) != 0 { problem = errno }
            close(number)
        }
        switch problem {
        case 0: return nil
        case ENOSPC, EDQUOT: return .failure("store", "the disk of \(folder) is full", "remove files from it")
        case EROFS:
            return .failure(
                "store", "\(folder) is on a disk that is mounted read-only", "mount it writable, or set --store-path")
        case EACCES, EPERM: return .failure("store", "\(folder) is not writable", "run: chmod u+w \(folder)")
        default:
            let text = String(cString: strerror(problem))
            return .failure("store", "\(folder) cannot be written: \(text)", "check its disk")
        }
    }

    private func existingParent(of path: String) -> String {
        var path = path
        while path.count > 1, !FileManager.default.fileExists(atPath: path) {
            path = (path as NSString).deletingLastPathComponent
        }
        return path
    }

    /// Only a store that other processes cannot be watched in has a line.
    private mutating func checkWatch() async {
        guard let store = graph.sharedStore, stored != nil, await !store.reportsChanges() else { return }
        checks.append(.warning("watch", Self.notWatched, Self.watchAdvice))
    }

    static let notWatched =
        "the store cannot report the changes of other processes: a sign-out elsewhere is noticed after some seconds"

    private static let watchAdvice =
        "raise fs.inotify.max_user_instances and fs.inotify.max_user_watches, or keep the store on a local disk"

    private mutating func checkLease() async {
        guard let store = graph.sharedStore, stored?.bundle != nil else { return }
        do {
            let lease = try await store.lease(waitingAtMost: Self.leaseLimit)
            await lease.release()
            checks.append(.ok("lease", "free: no other process is refreshing"))
        } catch let error as TokenStoreError where error.code == .busy {
            checks.append(
                .warning(
                    "lease", error.reason,
                    "while it is held, the other processes of this program cannot refresh the session"))
        } catch {
            checks.append(.failure("lease", Failure(error).message))
        }
    }

    // MARK: The server

    private mutating func checkServer() async {
        var endpoint = Endpoint<HTTPResponse>.request(.get, "articles", query: ["limit": 1])
        endpoint.settings.deadline = Self.responseLimit
        let sentAt = Date()
        let head: HTTPResponseHead
        do {
            head = try await graph.unauthenticatedNetwork.send(endpoint).head
        } catch let error as NetworkError {
            guard let response = error.response else { return addFailure(of: error) }
            head = response
        } catch {
            return checks.append(.failure("server", Failure(error).message))
        }
        isReachable = true
        let duration = Date().timeIntervalSince(sentAt)
        checks.append(check(of: head, after: duration))
        checkTLS()
        checkClock(head.serverDate, now: sentAt + duration / 2)
    }

    private mutating func addFailure(of error: NetworkError) {
        guard error.code == .tlsFailed else {
            let advice = "check --base-url, or start a server with 'articles serve'"
            return checks.append(.failure("server", "\(baseURL) cannot be reached (\(error.code))", advice))
        }
        checks.append(
            .failure(
                "tls", "no secure connection to \(baseURL): \(error.reason ?? "\(error.code)")",
                "check the server's certificate, the date of this machine, and proxies between them"))
    }

    private func check(of head: HTTPResponseHead, after duration: TimeInterval) -> Check {
        let text = "\(baseURL) responds with HTTP \(head.status) in \(Int(duration * 1_000)) ms"
        let type = head.headers["Content-Type"] ?? ""
        switch head.status {
        case 200...299 where !type.lowercased().contains("json"):
            return .warning("server", "\(text), and not with JSON", "it may be a page of the network or of a proxy")
        case 200...299, 401, 403, graph.configuration.expiredStatus, 429: return .ok("server", text)
        case 500...599: return .warning("server", text, "the server is down or overloaded; try again later")
        default: return .warning("server", text, "it may not be the articles API; check the path of --base-url")
        }
    }

    private mutating func checkTLS() {
        checks.append(
            baseURL.scheme?.lowercased() == "https"
                ? .ok("tls", "https, with a certificate that this machine trusts")
                : .ok("tls", "http, which stays on this machine"))
    }

    private mutating func checkClock(_ date: Date?, now: Date) {
        guard let date else {
            return checks.append(.warning("clock", "not compared: the server sends no Date field"))
        }
        // The field has whole seconds: half a second is cut off on average.
        let skew = date.timeIntervalSince(now) + 0.5
        clockSkew = skew
        guard abs(skew) > Self.clockTolerance else {
            return checks.append(.ok("clock", "within \(Int(abs(skew).rounded(.up))) s of the server's"))
        }
        let seconds = Duration.seconds(abs(skew)).formatted(.units(allowed: [.days, .hours, .minutes, .seconds]))
        let direction = skew > 0 ? "behind" : "ahead of"
        checks.append(
            .warning(
                "clock", "\(seconds) \(direction) the server's",
                "tokens are refreshed by the server's clock all the same; set the clock of this machine"))
    }
}

extension SharedTokenStore {
    /// Whether the store reports changes now: the stream of one that cannot ends at once.
    func reportsChanges() async -> Bool {
        let changes = changes
        return await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                for await _ in changes {}
                return false
            }
            group.addTask {
                try? await Task.sleep(for: .milliseconds(100))
                return true
            }
            let isLasting = await group.next() ?? true
            group.cancelAll()
            return isLasting
        }
    }
}
