import NetworkCore

nonisolated struct Book: Codable, Identifiable {
    let id: Int
    let title: String
}

extension Endpoint where Response == [Book] {
    static var books: Self { .get("books", query: ["limit": 20]) }
}
