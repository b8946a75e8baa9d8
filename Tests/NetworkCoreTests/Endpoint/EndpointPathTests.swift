import Foundation
import NetworkTestSupport
import NetworkURLSession
import TestSupport
import Testing

@testable import NetworkCore

@Suite("EndpointPath, and the request that is built of it")
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

    @Test(arguments: [
        ("articles/a%2Fb", "articles/a%2Fb"), ("/a%20b/%c3%a9", "a%20b/%c3%a9"), ("a;v=1/b:c@d", "a;v=1/b:c@d"),
    ])
    func `an encoded path is sent as it is`(path: String, sent: String) throws {
        #expect(try Self.sentURL(of: .encoded(path)) == "https://api.example.com/api/v1/\(sent)")
    }

    @Test(
        arguments: ["articles?limit=1", "articles#top", "../admin", "a/./b"].map { EndpointPath($0) }
            + [
                "a b", "a?b", "a#b", "é", "%zz", "%", "%2", "a/../b", "%2e%2E/b", "a/%2e", "%ff", "a\nb", "a\"b",
            ].map { .encoded($0) })
    func `a path with a query, a fragment or dot segments, or that is not encoded, is never sent`(path: EndpointPath) {
        let error = #expect(throws: NetworkError.self) { try Self.sentURL(of: path) }
        #expect(error?.code == .invalidRequest)
    }

    @Test func `a URL of its own is not changed`() throws {
        let link = url("https://cdn.example.net/a%2Fb?x=1")
        #expect(try Self.sentURL(of: .url(link)) == "https://cdn.example.net/a%2Fb?x=1")
        let place = url("https://cdn.example.net/a#part")
        #expect(try Self.sentURL(of: .url(place), query: ["y": 2]) == "https://cdn.example.net/a?y=2")
        #expect(try Self.sentURL(of: .url(link), query: ["y": 2]) == "https://cdn.example.net/a%2Fb?x=1&y=2")
    }

    @Test(arguments: [
        ("a b", "a%20b"), ("a+b", "a%2Bb"), ("a&b=c", "a%26b%3Dc"), ("é", "%C3%A9"), ("", ""), ("#?/", "%23%3F%2F"),
    ])
    func `characters that would end a value are encoded`(value: String, encoded: String) throws {
        #expect(try Self.sentURL(of: "x", query: ["q": value])?.hasSuffix("/x?q=\(encoded)") == true)
    }

    // MARK: Building a request

    func request<Response>(_ endpoint: Endpoint<Response>, headers: HTTPHeaders = [:]) throws -> HTTPRequestHead {
        var configuration = NetworkConfiguration(baseURL: baseURL)
        configuration.headers = headers
        return try configuration.request(for: endpoint)
    }

    @Test func `method, media type and idempotency key come from the endpoint`() throws {
        let endpoint = Endpoint.create(Article(id: 1, title: "x")).idempotent(key: "k-1")
        let request = try request(endpoint)
        #expect(request.method == .post && request.headers["Idempotency-Key"] == "k-1")
        #expect(request.headers["Content-Type"] == "application/json")
        #expect(request.headers["Accept"] == "application/json")
        #expect(endpoint.isIdempotent)
        #expect(!Endpoint.create(Article(id: 1, title: "x")).isIdempotent)
    }

    @Test func `an endpoint value keeps its idempotency key, and another one has another`() throws {
        let endpoints = (0..<2).map { _ in Endpoint.create(Article(id: 1, title: "x")).idempotent() }
        let keys = try (endpoints + [endpoints[0]]).map { try request($0).headers["Idempotency-Key"] }
        #expect(keys[0] == keys[2] && keys[0] != keys[1])
    }

    @Test func `the fields of an endpoint replace default fields`() throws {
        let endpoint = Endpoint.article(1).header("accept", "application/vnd.example+json")
        let request = try request(endpoint, headers: ["Accept": "text/html", "X-Client": "tests"])
        #expect(request.headers["Accept"] == "application/vnd.example+json")
        #expect(request.headers["X-Client"] == "tests")
    }

    @Test func `default fields are not sent to another origin`() throws {
        let headers: HTTPHeaders = ["X-API-Key": "not-for-others", "User-Agent": "tests"]
        let elsewhere = Endpoint<Article>.get(.url(url("https://cdn.example.net/7")))
        let request = try request(elsewhere, headers: headers)
        #expect(request.headers["X-API-Key"] == nil)
        #expect(request.headers["User-Agent"] == "tests")
        let sameOrigin = Endpoint<Article>.get(.url(url("https://api.example.com/v2/7")))
        #expect(try self.request(sameOrigin, headers: headers).headers["X-API-Key"] != nil)
    }

    @Test(arguments: ["https://api.example.com/v1?x=1", "https://api.example.com/v1#x"])
    func `a base URL with a query or a fragment is refused`(base: String) {
        let configuration = NetworkConfiguration(baseURL: url(base))
        #expect(throws: NetworkError.self) { try configuration.request(for: Endpoint.article(1)) }
    }

    @Test func `lists, optionals, dates, numbers and Booleans are written in a query by one rule, in order`() throws {
        let nothing: Int? = nil
        var query: QueryItems = [
            "tag": ["tea & milk", "ü"], "id": [1, 2][...], "set": Set(["b", "a"]), "none": nothing, "empty": [String](),
            "on": true, "on": 2.5, "at": Date(timeIntervalSince1970: 0), "days": [Date(timeIntervalSince1970: 86_400)],
        ]
        query.append("ids", [7, 8], separatedBy: ",")
        let request = try request(Endpoint<Article>.get("articles", query: query))
        #expect(
            request.url.query(percentEncoded: true)
                == "tag=tea%20%26%20milk&tag=%C3%BC&id=1&id=2&set=a&set=b&on=true&on=2.5&at=1970-01-01T00%3A00%3A00Z"
                + "&days=1970-01-02T00%3A00%3A00Z&ids=7%2C8")
        let none = try self.request(Endpoint<Article>.get("articles", query: ["none": nothing]))
        #expect(none.url.absoluteString == "https://api.example.com/api/v1/articles")
    }

    @Test func `a base URL may end in a slash`() throws {
        let configuration = NetworkConfiguration(baseURL: url("https://api.example.com/v1/"))
        let request = try configuration.request(for: Endpoint.article(1))
        #expect(request.url.absoluteString == "https://api.example.com/v1/articles/1")
    }

    @Test(arguments: [
        ("ftp://api.example.com", "GET", "A", "b"), ("https://user:word@api.example.com", "GET", "A", "b"),
        ("https://api.example.com@evil.net", "GET", "A", "b"), ("https://api.example.com", "GE T", "A", "b"),
        ("https://api.example.com", "GET", "A:", "b"), ("https://api.example.com", "GET", "A", "b\u{7F}"),
    ])
    func `a request that cannot be sent is refused`(text: String, method: String, name: String, value: String) {
        let request = HTTPRequestHead(
            method: HTTPMethod(rawValue: method), url: url(text), headers: HTTPHeaders([(name, value)]))
        let error = #expect(throws: NetworkError.self) { _ = try request.validate() }
        #expect(error?.code == .invalidRequest)
    }

    @Test(arguments: ["Host", "content-length", "Transfer-Encoding", "Connection", "TE", "Expect", "Upgrade"])
    func `a field that frames the message is refused and the error says what to do`(name: String) throws {
        var head = HTTPRequestHead(url: baseURL)
        let error = try #require(throws: HTTPFieldError.self) { try head.set(name, to: "3") }
        #expect(error.code == .framing && error.field == name)
        #expect("\(error)".contains("leave it out"))
        let request = try request(Endpoint.article(1), headers: [name: "3"])
        #expect(throws: NetworkError.self) { _ = try request.validate() }
    }

    @Test func `a URLRequest and a head are made of each other`() throws {
        let head = HTTPRequestHead(method: .put, url: baseURL, headers: ["A": "1", "B": "2"])
        let request = URLRequest(head)
        #expect(request.httpMethod == "PUT" && request.value(forHTTPHeaderField: "b") == "2")
        #expect(HTTPRequestHead(request) == head)
    }
}
