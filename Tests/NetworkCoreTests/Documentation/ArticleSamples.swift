import AuthInterface
import Foundation
import NetworkCore
import NetworkURLSession
import Testing

/// What the samples name is the transport of another module, which is not built with this one.
private typealias AsyncHTTPClientTransport = URLSessionTransport

/// The samples of the module's articles, each as its article prints it, with what a reader has around it.
private struct ArticleSamples {
    let network: any NetworkService
    let session: any AuthSession & TokenProvider
    let url: URL
    let caches: URL
    let folder: URL
    let photo: URL
    let key: String

    struct Photo: Decodable, Sendable {}

    func show(_ shown: Any?) {}

    func streams() async throws {
        let articles = Endpoint<[Article]>.get("articles")
        for try await event in network.events("feed") { show(event.data) }  // server-sent events
        for try await article in network.lines("export", of: Article.self) { show(article) }  // one JSON value a line
        for try await article in network.pages(articles) { show(article) }  // Link: <…>; rel="next"
        let stream = try await network.stream(Endpoint<Data>.get("files/\(key)"))  // the bytes
        show(stream)
    }

    func transfers() async throws {
        let file = try await network.download("files/\(key)", to: url) { show($0.fraction) }
        let report = try await network.download("reports/7", into: folder)  // named by the server

        let upload = Endpoint<Photo>.post("photos", body: .file(photo, contentType: "image/jpeg"))
        for try await update in network.uploading(upload) {
            switch update {
            case .progress(let progress): show(progress.fraction)
            case .finished(let photo): show(photo)
            }
        }
        show([file, report])
    }

    func caching() throws {
        let cache = try ResponseCache(folder: caches.appendingPathComponent("responses"))
        let transport = CachingTransport(CoalescingTransport(AsyncHTTPClientTransport()), cache: cache)
        let network = NetworkClient(baseURL: url, transport: transport).authenticated(by: session)
        Task { await cache.deleteResponses(atEndOf: session) }
        show(network)
    }

    func observing() {
        let recorder = HARRecorder(AsyncHTTPClientTransport())
        let client = NetworkClient(
            baseURL: url,
            transport: recorder,
            interceptors: [TraceInterceptor(requestIDField: "X-Request-ID")],
            observers: [LoggingObserver()]
        )
        show(client)
    }
}

@Suite struct ArticleSampleTests {
    @Test func `each Swift sample of the module's articles is compiled`() throws {
        let file = URL(fileURLWithPath: #filePath)
        var root = file
        for _ in 0..<4 { root.deleteLastPathComponent() }
        let compiled = Self.lines(of: try String(contentsOf: file, encoding: .utf8))
        let articles = root.appendingPathComponent("Modules/NetworkCore/NetworkCore.docc")
        var count = 0
        for article in try FileManager.default.contentsOfDirectory(at: articles, includingPropertiesForKeys: nil) {
            let parts = try String(contentsOf: article, encoding: .utf8).components(separatedBy: "```swift\n")
            for part in parts.dropFirst() {
                let sample = Self.lines(of: try #require(part.components(separatedBy: "\n```").first))
                count += 1
                let isCompiled = compiled.indices.contains { compiled[$0...].starts(with: sample) }
                #expect(isCompiled, "\(article.lastPathComponent): \(sample.first ?? "")")
            }
        }
        #expect(count >= 4)
    }

    private static func lines(of text: String) -> [String] {
        text.components(separatedBy: "\n").map { $0.split(separator: " ").joined(separator: " ") }
    }
}
