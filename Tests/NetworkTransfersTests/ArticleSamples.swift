import Foundation
import NetworkCore
import NetworkTestSupport
import NetworkTransfers

/// The samples of the module's articles, each as its article prints it, with what a reader has around it.
private struct ArticleSamples {
    let network: any NetworkService
    let url: URL
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

    func overview() async throws {
        _ = try await network.download("reports/7", to: url)
        for try await event in network.events("feed") { show(event.data) }
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

        var form = MultipartForm()
        form.append("name", "Ada")
        form.append("image", file: photo, contentType: "image/jpeg")
        let registered = try await network.send(Endpoint<Photo>.post("photos", body: .multipart(form))) { progress in
            show(progress.fraction)
        }
        show(registered)
    }
}
