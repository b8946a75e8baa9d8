import AuthInterface
import Foundation
import NetworkCaching
import NetworkCore
import NetworkURLSession
import TestSupport
import Testing

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
        let transport = CachingTransport(CoalescingTransport(AsyncHTTPClientTransport()), cache: cache)
        let network = NetworkClient(baseURL: url, transport: transport).authenticated(by: session)
        Task { await cache.deleteResponses(atEndOf: session) }
        show(network)
    }
}

@Suite struct ArticleSampleTests {
    @Test func `each Swift sample of the module's page is compiled`() throws {
        let samples = try DocumentedSamples(of: "NetworkCaching", compiledIn: #filePath)
        #expect(samples.count >= 1)
        #expect(samples.missing == [])
    }
}
