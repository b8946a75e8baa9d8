import DataAPI
import NetworkCore

nonisolated struct Book: Codable, Identifiable {
    let id: Int
    let title: String
}

extension Endpoint where Response == [Book] {
    static var books: Self { .get("books", query: ["limit": 20]) }
}

extension Endpoint where Response == IssuedTokens {
    static func login(reader: String, password: String) -> Self {
        .post("login", json: ["reader": reader, "password": password]).asTokenCall()
    }
}
