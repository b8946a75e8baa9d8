import AuthInterface
import Composition
import DataAPI
import DevBackend
import Foundation
import Imaging
import NetworkCore
import OAuth2Flows

/// One run of the demo. Each step records the observations for its claims.
struct DemoRun {
    let options: Demo.Options
    let console: Console
    let backend: DevBackend
    let folder: URL
    let recording: TrafficRecording

    let recorder = EventRecorder()
    let start = ContinuousClock.now
    var claims = Claims()
    var secrets = SecretSearch()

    /// Every token bundle of the session, in order.
    var bundles: [TokenBundle] = []
    var failures = 0
    var refreshes = 0
    /// How often the session had ended where it must not.
    var signOuts = 0
    /// The requests with old tokens after the sign-out, which the server must refuse.
    var requestsWithOldTokens = 0

    /// Performs the steps. A step that throws ends the run; the claims of later steps then do not hold.
    mutating func perform(fitter: PhotoFitter) async -> DemoReport {
        var missing = "not observed"
        do {
            print("server", "\(backend.origin.absoluteString), with its database in a temporary folder")
            let photo = try preparePhoto(fitter)
            let graph = compose()
            let articles = try await register(photo, with: graph)
            try await sendAll(articles, with: graph)
            let restarted = compose()
            try await restart(with: restarted)
            try await signOut(with: restarted)
        } catch {
            missing = "not observed, because \(Failure(error).message)"
        }
        return DemoReport(self, missing: missing)
    }

    /// The object graph over the run's own store, as a new process creates it.
    private func compose() -> AppGraph {
        var configuration = AppConfiguration(
            baseURL: backend.baseURL, store: .file(folder: folder.appendingPathComponent("tokens")))
        configuration.expiredStatus = options.expiredStatus.rawValue
        if options.refresh == .oauth2 {
            let client = backend.configuration.oauth2Client
            configuration.refresh = .oauth2(.basic(id: client.id, secret: client.secret ?? ""))
        }
        // With fewer connections, fewer requests would be refused at the same time.
        let transport = recording.transport(PlatformTransport(connectionsPerOrigin: 64))
        return AppGraph(configuration, transport: transport, observers: [recorder] + recording.observers)
    }

    /// Records the bundle in the store, and its secrets.
    mutating func recordTokens(of graph: AppGraph) async throws {
        if options.refresh == .oauth2 { backend.configuration.oauth2Client.secret.map { secrets.add($0) } }
        guard let bundle = try await graph.store.load(), bundle != bundles.last else { return }
        secrets.add(bundle)
        bundles.append(bundle)
    }

    func print(_ title: String, _ text: String) {
        console.print("  \(title.fitted(to: 9))\(text)")
    }
}
