import AuthInterface
import Foundation
import NetworkCore
import TestSupport

struct Article: Codable, Hashable, Sendable {
    var id: Int
    var title: String
}

extension Endpoint where Response == Article {
    static func article(_ id: Int) -> Self { .get("articles/\(id)") }
    static func create(_ article: Article) -> Self { .post("articles", json: article) }
}

let baseURL = url("https://api.example.com/api/v1")

/// A URL of a literal. A mistake ends the test.
func url(_ text: String) -> URL {
    guard let url = URL(string: text) else { preconditionFailure("no URL: \(text)") }
    return url
}

extension Recorder: NetworkObserver where Value == NetworkEvent {
    func receive(_ event: NetworkEvent) { record(event) }
}
