package import NetworkCore
package import TestSupport

package struct Article: Codable, Hashable, Sendable {
    package var id: Int
    package var title: String

    package init(id: Int, title: String) {
        self.id = id
        self.title = title
    }
}

extension Endpoint where Response == Article {
    package static func article(_ id: Int) -> Self { .get("articles/\(id)") }
    package static func create(_ article: Article) -> Self { .post("articles", json: article) }
}

extension Recorder: NetworkObserver where Value == NetworkEvent {
    package func receive(_ event: NetworkEvent) { record(event) }
}
