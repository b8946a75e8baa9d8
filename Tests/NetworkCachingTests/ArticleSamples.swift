import AuthInterface
import Foundation
import NetworkCaching
import NetworkCore
import NetworkURLSession

/// What the sample names is the transport of another module, which is not built with this one.
private typealias AsyncHTTPClientTransport = URLSessionTransport

/// The sample of the module's page, as it is printed, with what a reader has around it.
private struct ArticleSamples {
    let session: any AuthSession & TokenProvider
    let url: URL
    let caches: URL

    func show(_ shown: Any?) {}

    func caching() throws {
        let cache = try ResponseCache(folder: caches.appendingPathComponent("responses"))
        let transport = CachingTransport(AsyncHTTPClientTransport(), cache: cache)
        let network = NetworkClient(baseURL: url, transport: transport).authenticated(by: session)
        Task { await cache.deleteResponses(atEndOf: session) }
        show(network)
    }

    func withoutNetwork(_ cache: ResponseCache) async {
        if case .signedIn(let id) = session.state {
            let kept = cache.network(of: id, configuration: NetworkConfiguration(baseURL: url))
            show(try? await kept.send(Endpoint<Data>.get("articles")))
        }
    }
}
