import AuthInterface
import Composition
import DataAPI
import DevBackend
import Foundation
import Imaging
import NetworkCore
import OAuth2Flows

/// One run of the demo, step by step. Each step looks at what it claims.
struct DemoRun {
    let options: DemoOptions
    let console: Console
    let backend: DevBackend
    let folder: URL

    let recorder = EventRecorder()
    var stopwatch = Stopwatch()
    var claims = Claims()
    var secrets = SecretSearch()

    /// Every bundle the session has had, in order.
    var bundles: [TokenBundle] = []
    var failures = 0
    var refreshes = 0

    init(options: DemoOptions, console: Console, backend: DevBackend, folder: URL) {
        self.options = options
        self.console = console
        self.backend = backend
        self.folder = folder
    }

    /// Goes through the steps. A step that throws ends the run; the claims behind it then do not hold.
    mutating func perform(fitter: PhotoFitter) async -> DemoReport {
        var missing = "not looked at"
        do {
            say("server", "\(backend.origin.absoluteString), its database in a temporary folder")
            let photo = try preparePhoto(fitter)
            let graph = compose()
            let articles = try await register(photo, with: graph)
            try await sendAll(articles, with: graph)
            let again = compose()
            try await startAgain(with: again)
            try await leave(with: again)
        } catch {
            missing = "not looked at, because \(Failure(error).message)"
        }
        return DemoReport(self, missing: missing)
    }

    /// The application over the run's own store, as a new process would put it together.
    private func compose() -> AppGraph {
        let refresh: RefreshChoice
        switch options.refresh {
        case .rest:
            refresh = .rest
        case .oauth2:
            let client = backend.configuration.oauth2Client
            refresh = .oauth2(.basic(id: client.id, secret: client.secret ?? ""))
        }
        let configuration = AppConfiguration(
            baseURL: backend.baseURL,
            store: .file(folder: folder.appendingPathComponent("tokens")),
            refresh: refresh,
            expiredStatus: options.expiredStatus.rawValue
        )
        // Enough connections that many requests are refused together: the fewer there are, the tamer the storm.
        let transport = URLSessionTransport(connectionsPerHost: 64)
        return AppGraph(configuration, transport: transport, observers: [recorder])
    }

    /// Notes the bundle that is in the store now, and its secrets.
    ///
    /// - Throws: `TokenStoreError`.
    mutating func noteTokens(of graph: AppGraph) async throws {
        if options.refresh == .oauth2 { backend.configuration.oauth2Client.secret.map { secrets.add($0) } }
        guard let bundle = try await graph.store.load(), bundle != bundles.last else { return }
        secrets.add(bundle)
        bundles.append(bundle)
    }

    func say(_ title: String, _ text: String) {
        console.say("  \(title.fitted(to: 9))\(text)")
    }
}
