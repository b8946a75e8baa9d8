import Foundation
import NetworkTestSupport
import TestSupport
import Testing

@testable import NetworkCore

@Suite("EndpointPath")
struct EndpointPathTests {
    static func sentURL(of path: EndpointPath, query: QueryItems = [:]) throws -> String? {
        let endpoint: Endpoint<Article> = .get(path, query: query)
        return try NetworkConfiguration(baseURL: baseURL).request(for: endpoint).url.absoluteString
    }

    @Test(arguments: [
        ("7", "7"), ("a b", "a%20b"), ("a/b", "a%2Fb"), ("../admin", "..%2Fadmin"), ("a?b=c", "a%3Fb%3Dc"),
        ("a#b", "a%23b"), ("100%", "100%25"), ("%2e%2e", "%252e%252e"), ("é", "%C3%A9"), ("😀", "%F0%9F%98%80"),
        ("a\r\nb", "a%0D%0Ab"), ("a;b:c@d&e=f+g", "a%3Bb%3Ac%40d%26e%3Df%2Bg"), ("-._~", "-._~"), ("...", "..."),
        ("\u{0}", "%00"),
    ])
    func `an interpolated value is one segment`(value: String, segment: String) throws {
        let sent = "https://api.example.com/api/v1/articles/\(segment)"
        #expect(try Self.sentURL(of: "articles/\(value)") == sent)
        #expect(try Self.sentURL(of: "articles/\(value)/likes") == sent + "/likes")
    }

    @Test(arguments: ["", ".", ".."])
    func `a value that would change the path is never sent`(value: String) {
        for path in ["articles/\(value)", "articles/\(value)/likes", "\(value)"] as [EndpointPath] {
            let error = #expect(throws: NetworkError.self) { try Self.sentURL(of: path) }
            #expect(error?.code == .invalidRequest)
        }
    }

    @Test func `adjacent values are checked as one segment`() throws {
        let dot = "."
        #expect(throws: NetworkError.self) { try Self.sentURL(of: "articles/\(dot)\(dot)") }
        #expect(throws: NetworkError.self) { try Self.sentURL(of: "articles/.\(dot)/x") }
        #expect(try Self.sentURL(of: "articles/v\(dot)\(1)") == "https://api.example.com/api/v1/articles/v.1")
        let empty = ""
        #expect(try Self.sentURL(of: "articles/v\(empty)") == "https://api.example.com/api/v1/articles/v")
    }

    @Test func `a literal is a path that is not yet percent-encoded`() throws {
        for (path, sent) in [
            ("", ""), ("/articles", "/articles"), ("articles/", "/articles/"), ("my articles", "/my%20articles"),
            // A character that begins with the slash has more than it.
            ("/\u{301}a", "/%CC%81a"),
        ] {
            #expect(try Self.sentURL(of: EndpointPath(path)) == "https://api.example.com/api/v1" + sent)
        }
        #expect(try Self.sentURL(of: "users/me") == "https://api.example.com/api/v1/users/me")
    }

    @Test(arguments: ["articles?limit=1", "articles#top", "../admin", "a/./b"])
    func `a literal with a query, a fragment or dot segments is never sent`(path: String) {
        #expect(throws: NetworkError.self) { try Self.sentURL(of: EndpointPath(path)) }
    }

    @Test func `a URL of its own is not changed`() throws {
        let link = url("https://cdn.example.net/a%2Fb?x=1")
        #expect(try Self.sentURL(of: .url(link)) == "https://cdn.example.net/a%2Fb?x=1")
        let place = url("https://cdn.example.net/a#part")
        #expect(try Self.sentURL(of: .url(place), query: ["y": 2]) == "https://cdn.example.net/a?y=2")
        #expect(try Self.sentURL(of: .url(link), query: ["y": 2]) == "https://cdn.example.net/a%2Fb?x=1&y=2")
    }
}

@Suite("QueryItems")
struct QueryItemsTests {
    @Test func `nil values are left out and the order is kept`() throws {
        let cursor: Int? = nil
        let query: QueryItems = ["z": 1, "cursor": cursor, "a": true, "z": 2.5]
        #expect(try EndpointPathTests.sentURL(of: "x", query: query)?.hasSuffix("/x?z=1&a=true&z=2.5") == true)
        let none: QueryItems = ["cursor": cursor]
        #expect(none.isEmpty)
        #expect(try EndpointPathTests.sentURL(of: "x", query: none)?.hasSuffix("/x") == true)
    }

    @Test(arguments: [
        ("a b", "a%20b"), ("a+b", "a%2Bb"), ("a&b=c", "a%26b%3Dc"), ("é", "%C3%A9"), ("", ""), ("#?/", "%23%3F%2F"),
    ])
    func `characters that would end a value are encoded`(value: String, encoded: String) throws {
        #expect(try EndpointPathTests.sentURL(of: "x", query: ["q": value])?.hasSuffix("/x?q=\(encoded)") == true)
    }

    @Test func `dates are written as ISO 8601`() throws {
        let date = Date(timeIntervalSince1970: 0)
        let url = try EndpointPathTests.sentURL(of: "x", query: ["since": date])
        #expect(url?.hasSuffix("/x?since=1970-01-01T00%3A00%3A00Z") == true)
    }
}
