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

extension Recorder: NetworkObserver where Value == NetworkEvent {
    func receive(_ event: NetworkEvent) { record(event) }
}
