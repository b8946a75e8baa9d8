import ArgumentParser
import AuthInterface
import DataAPI
import Foundation
import NIOConcurrencyHelpers
import NetworkCaching
import NetworkCore
import NetworkRecording
import NetworkTransfers
import OAuth2Flows
import Storage
import TokenRefresh

/// Signs in, refreshes, sends, downloads, keeps and records in every way, as a process whose files a test then searches
/// for tokens (G35).
///
/// | line | meaning |
/// |---|---|
/// | `secret TEXT` | a token or a code of a session |
/// | `url TEXT` | the URL of a request |
/// | `open PATH` | a file without a name, or in a temporary folder, that the process has open |
struct FlowsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "flows", shouldDisplay: false)

    @Option var server: String
    @Option var transport: Transport
    /// Where the process writes: the folder `tokens` is the store's.
    @Option var folder: String
    @Option var photo: String

    /// A time limit that a busy machine does not reach.
    private static let patience: Duration = .seconds(600)

    private struct URLPrinter: HTTPTransport {
        let base: any HTTPTransport

        func perform(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
            note("url \(request.head.url.absoluteString)")
            return try await base.perform(request)
        }

        var endsInTime: Bool { base.endsInTime }
    }

    /// What the sessions have in common.
    private struct Parts {
        let url: URL
        let folder: URL
        let browser: any HTTPTransport
        let base: NetworkClient
        let cached: NetworkClient
        let recorder: HARRecorder
    }

    func run() async throws {
        guard let url = URL(string: server) else { throw ValidationError("--server must be a URL") }
        let folder = URL(fileURLWithPath: folder)
        let log = folder.appendingPathComponent("log")
        guard FileManager.default.createFile(atPath: log.path, contents: nil) else { throw ExitCode.failure }
        let lines = try NIOLockedValueBox(FileHandle(forWritingTo: log))
        let logger = LoggingObserver(minimumLevel: .debug) { _, line in
            lines.withLockedValue { try? $0.write(contentsOf: Data("\(line)\n".utf8)) }
        }
        let recorder = HARRecorder(URLPrinter(base: transport.made))
        let cache = CachingTransport(
            recorder, cache: try ResponseCache(folder: folder.appendingPathComponent("responses")))
        var configuration = NetworkConfiguration(baseURL: url)
        configuration.format = .envelope
        (configuration.timeout, configuration.deadline) = (Self.patience, Self.patience)
        func client(_ transport: any HTTPTransport) -> NetworkClient {
            NetworkClient(configuration: configuration, transport: transport, observers: [logger])
        }
        let parts = Parts(
            url: url, folder: folder, browser: transport.made, base: client(recorder), cached: client(cache),
            recorder: recorder)
        try await guest(parts)
        try await browser(parts)
        try await device(parts)
        try recorder.archive.encoded().write(to: folder.appendingPathComponent("traffic.har"))
    }

    /// A guest of the API: an upload, requests, a refresh, kept responses, downloads, and a sign-out.
    private func guest(_ parts: Parts) async throws {
        let handler = RESTTokenRefreshHandler(network: parts.base, logoutAffectsSessionOnly: true)
        let (session, store) = engine(parts, handler)
        let network = parts.cached.authenticated(by: session)
        let auth = AuthService(unauthenticated: parts.base, network: network, session: session)
        let user = try await auth.registerGuest(
            name: "Ada", photo: try Data(contentsOf: URL(fileURLWithPath: photo)))
        try await tellSecrets(of: store)
        let articles = ArticleService(network: network)
        let article = try await articles.create(ArticleDraft(title: "title", content: "text"))
        for _ in 0..<2 { _ = try await articles.article(article.id) }
        try await session.refresh()
        try await tellSecrets(of: store)
        _ = try await articles.page(limit: 5)
        if let key = user?.profileImageKey {
            try await network.download(.file(key), to: parts.folder.appendingPathComponent("photo.jpg"))
        }
        try tellOpenFiles(but: parts)
        try await session.signOut()
        await session.settle()
    }

    private func browser(_ parts: Parts) async throws {
        try await oauth2(parts) { session, server, client in
            let signIn = OAuth2CodeSignIn(server: server, client: client, network: parts.base)
            try await signIn.start(
                session,
                with: LoopbackUserAgent { page in
                    let response = try await submit(page, "name=Ada&decision=allow", in: parts)
                    guard let target = response.headers["Location"].flatMap({ URL(string: $0) }) else { return }
                    let items = URLComponents(url: target, resolvingAgainstBaseURL: false)?.queryItems
                    note("secret \(items?.first { $0.name == "code" }?.value ?? "")")
                    let request = HTTPTransportRequest(head: HTTPRequestHead(url: target), idleTimeout: Self.patience)
                    _ = try await parts.browser.perform(request)
                })
        }
    }

    private func device(_ parts: Parts) async throws {
        try await oauth2(parts) { session, server, client in
            let signIn = OAuth2DeviceSignIn(server: server, client: client, network: parts.base)
            try await signIn.start(session) { code in
                _ = try await submit(code.verificationURI, "user_code=\(code.userCode)&name=Ada", in: parts)
            }
        }
    }

    private func oauth2(
        _ parts: Parts, signIn: (TokenRefreshCoordinator, OAuth2Server, OAuth2Client) async throws -> Void
    ) async throws {
        let server = try await OAuth2Server.discover(issuer: parts.url, network: parts.base)
        let client = OAuth2Client.basic(id: "latchkey-dev", secret: "development-only")
        let handler = OAuth2TokenRefreshHandler(
            tokenEndpoint: server.tokenEndpoint, revocationEndpoint: server.revocationEndpoint, client: client,
            network: parts.base)
        let (session, store) = engine(parts, handler)
        try await signIn(session, server, client)
        try await tellSecrets(of: store)
        try await session.refresh()
        try await tellSecrets(of: store)
        _ = try await parts.cached.authenticated(by: session).send(.me)
        try tellOpenFiles(but: parts)
        try await session.signOut()
        await session.settle()
    }

    private func engine(
        _ parts: Parts, _ handler: any TokenRefreshHandler
    ) -> (TokenRefreshCoordinator, FileTokenStore) {
        let store = FileTokenStore(folder: parts.folder.appendingPathComponent("tokens"))
        var policy = TokenRefreshPolicy()
        (policy.deadline, policy.callLimit, policy.storeDeadline) = (Self.patience, Self.patience, Self.patience)
        return (TokenRefreshCoordinator(store: store, handler: handler, policy: policy), store)
    }

    /// Submits the form of a page, as a browser does.
    private func submit(_ page: URL, _ form: String, in parts: Parts) async throws -> HTTPResponseHead {
        let head = HTTPRequestHead(
            method: .post, url: page, headers: HTTPHeaders([("Content-Type", "application/x-www-form-urlencoded")]))
        let request = HTTPTransportRequest(head: head, body: HTTPBody(Data(form.utf8)), idleTimeout: Self.patience)
        return try await parts.browser.perform(request).head
    }

    private func tellSecrets(of store: FileTokenStore) async throws {
        guard let bundle = try await store.load() else { throw ExitCode.failure }
        note("secret \(bundle.accessToken)")
        if let token = bundle.refreshToken { note("secret \(token)") }
    }

    /// Names the files that are open and not in the folder: programs, libraries and devices are left out.
    private func tellOpenFiles(but parts: Parts) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
            guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)"),
                target.hasPrefix("/"), !target.hasPrefix("/dev/"), !target.hasPrefix("/proc/"),
                !target.hasPrefix("/sys/"), !target.hasPrefix(parts.folder.path + "/") || target.hasSuffix(" (deleted)")
            else { continue }
            note("open \(target)")
        }
    }
}
