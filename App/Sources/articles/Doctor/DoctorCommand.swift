import ArgumentParser
import AuthInterface
import Composition
import Foundation
import NetworkCore

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check the store, the server, the clock and the session, and say what to do.",
        discussion: """
            It changes nothing: no token is refreshed, and no session is started or ended.

            Exit status: 0 no check failed, there may be warnings; 1 a check failed; 78 the configuration is invalid.
            """,
        examples: ["articles doctor", "articles doctor --json"])

    @OptionGroup(title: ConnectionOptions.title) var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions<WholeObject>

    func run() async throws {
        try await connection.withGraph { graph in
            var examination = Examination(graph: graph)
            await examination.perform()
            let console = output.console
            for check in examination.checks {
                let text = [check.message, check.advice].compactMap(\.self).joined(separator: "; ")
                console.printRow([check.status.rawValue, check.name, text]) { cells in
                    let mark = cells[0].fitted(to: 9)
                    let shown = check.status == .ok ? mark : console.terminal.styled(mark, .yellow)
                    return "\(shown)\(cells[1].fitted(to: 9))\(cells[2])"
                }
            }
            let hasFailed = examination.checks.contains { $0.status == .failure }
            try console.printObject(Report(ok: !hasFailed, checks: examination.checks))
            if hasFailed { throw ExitStatus.refused }
        }
    }

    private struct Report: Encodable {
        let ok: Bool
        let checks: [Examination.Check]
    }
}

/// The checks of `articles doctor`. None of them refreshes, starts or ends a session: the store is read without the
/// refresh engine, and requests are sent by the client that adds no tokens.
struct Examination {
    struct Check: Encodable {
        enum Status: String, Encodable {
            case ok, warning, failure
        }

        let name: String
        let status: Status
        let message: String
        let advice: String?
    }

    static let responseLimit: Duration = .seconds(30)

    let graph: AppGraph
    private(set) var checks: [Check] = []
    private(set) var stored: StoredSession?
    /// How far the server's clock is ahead of this one. `nil`: not known.
    private(set) var clockSkew: TimeInterval?
    private(set) var isReachable = false

    private var baseURL: URL { graph.configuration.baseURL }

    mutating func perform() async {
        await checkStore()
        await checkServer()
        await checkToken()
    }

    mutating func add(_ status: Check.Status, _ name: String, _ message: String, _ advice: String? = nil) {
        checks.append(Check(name: name, status: status, message: message, advice: advice))
    }

    private mutating func checkStore() async {
        guard let store = graph.sharedStore else {
            if EnvironmentToken.isSet {
                add(.ok, "store", "not used: the access token is that of \(EnvironmentToken.variable)")
            } else {
                add(.warning, "store", "in memory: the session ends with the program", "use --store file")
            }
            stored = (try? await graph.store.load()).map { $0.map { .active($0) } ?? .empty }
            return
        }
        do {
            stored = try await store.read()
            try await checkIsWritable(store)
        } catch {
            add(.failure, "store", Failure(error).message)
        }
        if stored != nil, await !graph.storeReportsChanges() {
            add(
                .warning, "watch", StatusObject.notWatched,
                "raise fs.inotify.max_user_instances and max_user_watches, or keep the store on a local disk")
        }
        if stored?.bundle != nil { await checkLease(store) }
    }

    private mutating func checkIsWritable(_ store: any SharedTokenStore) async throws {
        let location = graph.configuration.storeLocation
        guard let folder = graph.configuration.file?.deletingLastPathComponent().path else {
            try await store.update { _ in nil }
            return add(.ok, "store", location)
        }
        guard FileManager.default.fileExists(atPath: folder) else {
            return add(.ok, "store", "\(folder) does not exist yet; the first sign-in creates it")
        }
        if let (problem, advice) = Self.problem(writingIn: folder) { return add(.failure, "store", problem, advice) }
        // Takes the write lock, and leaves the content as it is.
        try await store.update { _ in nil }
        let mode = (try? FileManager.default.attributesOfItem(atPath: location))?[.posixPermissions] as? Int
        let facts = mode.map { "readable, writable, mode \(String($0, radix: 8))" } ?? "writable, nothing stored"
        add(.ok, "store", "\(location) (\(facts))")
    }

    /// Writes as much as a session has, and removes it: a full disk, and one mounted read-only, have folders with
    /// every right.
    private static func problem(writingIn folder: String) -> (message: String, advice: String)? {
        let file = URL(fileURLWithPath: "\(folder)/.doctor-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        do {
            try Data(count: 16_384).write(to: file, options: .withoutOverwriting)
            return nil
        } catch CocoaError.fileWriteOutOfSpace {
            return ("the disk of \(folder) is full", "remove files from it")
        } catch CocoaError.fileWriteVolumeReadOnly {
            return ("\(folder) is on a disk that is mounted read-only", "mount it writable, or set --store-path")
        } catch {
            return ("\(folder) is not writable", "run: chmod u+w \(folder), and check its disk")
        }
    }

    private mutating func checkLease(_ store: any SharedTokenStore) async {
        do {
            // A refresh rarely takes longer.
            await (try store.lease(waitingAtMost: .seconds(2))).release()
            add(.ok, "lease", "free: no other process is refreshing")
        } catch let error as TokenStoreError where error.code == .busy {
            add(
                .warning, "lease", error.reason,
                "while it is held, the other processes of this program cannot refresh the session")
        } catch {
            add(.failure, "lease", Failure(error).message)
        }
    }

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
            return add(.failure, "server", Failure(error).message)
        }
        isReachable = true
        let duration = Date().timeIntervalSince(sentAt)
        check(head, after: duration)
        let isEncrypted = baseURL.scheme?.lowercased() == "https"
        add(.ok, "tls", isEncrypted ? "this machine trusts the certificate" : "http, which stays on this machine")
        checkClock(head.serverDate, now: sentAt + duration / 2)
    }

    private mutating func addFailure(of error: NetworkError) {
        if error.code == .tlsFailed {
            add(
                .failure, "tls", "no secure connection to \(baseURL): \(error.reason ?? "\(error.code)")",
                "check the server's certificate, the date of this machine, and proxies between them")
        } else {
            add(
                .failure, "server", "\(baseURL) cannot be reached (\(error.code))",
                "check --base-url, or start a server with 'articles serve'")
        }
    }

    private mutating func check(_ head: HTTPResponseHead, after duration: TimeInterval) {
        let text = "\(baseURL) responds with HTTP \(head.status) in \(Int(duration * 1_000)) ms"
        switch head.status {
        case 200...299 where !head.isJSON:
            add(.warning, "server", "\(text), and not with JSON", "it may be a page of the network or of a proxy")
        case 200...299, 401, 403, graph.configuration.expiredStatus, 429: add(.ok, "server", text)
        case 500...599: add(.warning, "server", text, "the server is down or overloaded; try again later")
        default: add(.warning, "server", text, "it may not be the articles API; check the path of --base-url")
        }
    }

    private mutating func checkClock(_ date: Date?, now: Date) {
        guard let date else { return add(.warning, "clock", "not compared: the server sends no Date field") }
        // The field has whole seconds: half a second is cut off on average.
        let skew = date.timeIntervalSince(now) + 0.5
        clockSkew = skew
        guard abs(skew) > 30 else {
            return add(.ok, "clock", "within \(Int(abs(skew).rounded(.up))) s of the server's")
        }
        let time = Duration.seconds(abs(skew)).formatted(.units(allowed: [.days, .hours, .minutes, .seconds]))
        add(
            .warning, "clock", "\(time) \(skew > 0 ? "behind" : "ahead of") the server's",
            "tokens are refreshed by the server's clock all the same; set the clock of this machine")
    }
}

extension HTTPResponseHead {
    var isJSON: Bool { headers["Content-Type"]?.lowercased().contains("json") ?? false }
}
