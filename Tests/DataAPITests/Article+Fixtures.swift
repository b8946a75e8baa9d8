import DataAPI
import Foundation

extension Article {
    static func fixture(_ id: Article.ID, title: String = "Hello") -> Article {
        Article(
            id: id, title: title, content: "World", author: Author(id: 1, name: "Ada"),
            createdAt: Date(timeIntervalSince1970: 1_000_000_000))
    }
}
