import Foundation
import Testing

@testable import NetworkCore

@Suite("EndpointPath")
struct EndpointPathTests {
    static func sentURL(of path: EndpointPath, query: QueryItems = [:]) throws -> String? {
        let endpoint: Endpoint<Article> = .get(path, query: query)
        return try NetworkConfiguration(baseURL: baseURL).request(for: endpoint).url.absoluteString
    }

    @Test(
        arguments: [
            ("7", "7"),
            ("a b", "a%20b"),
            ("a/b", "a%2Fb"),
            ("../admin", "..%2Fadmin"),
            ("a?b=c", "a%3Fb%3Dc"),
            ("a#b", "a%23b"),
            ("100%", "100%25"),
            ("%2e%2e", "%252e%252e"),
            ("é", "%C3%A9"),
            ("😀", "%F0%9F%98%80"),
            ("a\r\nb", "a%0D%0Ab"),
            ("a;b:c@d&e=f+g", "a%3Bb%3Ac%40d%26e%3Df%2Bg"),
            ("-._~", "-._~"),
            ("...", "..."),
            ("\u{0}", "%00"),
        ]
    )
    func `an interpolated value is one segment`(value: String, segment: String) throws {
        #expect(try Self.sentURL(of: "articles/\(value)") == "https://api.example.com/api/v1/articles/\(segment)")
        #expect(
            try Self.sentURL(of: "articles/\(value)/likes")
                == "https://api.example.com/api/v1/articles/\(segment)/likes"
        )
    }

    @Test(arguments: ["", ".", ".."])
    func `a value that would change the path is never sent`(value: String) {
        for path in ["articles/\(value)", "articles/\(value)/likes", "\(value)"] as [EndpointPath] {
            #expect {
                try Self.sentURL(of: path)
            } throws: { error in
                (error as? NetworkError)?.code == .invalidRequest
            }
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
        #expect(try Self.sentURL(of: "") == "https://api.example.com/api/v1")
        #expect(try Self.sentURL(of: "/articles") == "https://api.example.com/api/v1/articles")
        #expect(try Self.sentURL(of: "articles/") == "https://api.example.com/api/v1/articles/")
        #expect(try Self.sentURL(of: "my articles") == "https://api.example.com/api/v1/my%20articles")
        #expect(try Self.sentURL(of: EndpointPath("users/me")) == "https://api.example.com/api/v1/users/me")
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
