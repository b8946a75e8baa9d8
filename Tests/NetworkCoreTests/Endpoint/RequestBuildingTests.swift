import Foundation
import Testing

@testable import NetworkCore

@Suite("Building a request")
struct RequestBuildingTests {
    func request<Response>(
        _ endpoint: Endpoint<Response>,
        headers: HTTPHeaders = [:]
    ) throws -> URLRequest {
        try NetworkConfiguration(baseURL: baseURL, headers: headers).request(for: endpoint)
    }

    @Test func `method, media type and idempotency key come from the endpoint`() throws {
        let endpoint = Endpoint.create(Article(id: 1, title: "x")).idempotent(key: "k-1")
        let request = try request(endpoint)
        #expect(request.httpMethod == "POST")
        #expect(request.value(forHTTPHeaderField: "Content-Type") == "application/json")
        #expect(request.value(forHTTPHeaderField: "Accept") == "application/json")
        #expect(request.value(forHTTPHeaderField: "Idempotency-Key") == "k-1")
        #expect(endpoint.isIdempotent)
        #expect(!Endpoint.create(Article(id: 1, title: "x")).isIdempotent)
    }

    @Test func `an endpoint value keeps its idempotency key`() throws {
        let endpoint = Endpoint.create(Article(id: 1, title: "x")).idempotent()
        let other = Endpoint.create(Article(id: 1, title: "x")).idempotent()
        let field = "Idempotency-Key"
        let key = try request(endpoint).value(forHTTPHeaderField: field)
        #expect(try request(endpoint).value(forHTTPHeaderField: field) == key)
        #expect(try request(other).value(forHTTPHeaderField: field) != key)
    }

    @Test func `the fields of an endpoint replace default fields`() throws {
        let endpoint = Endpoint.article(1).header("accept", "application/vnd.example+json")
        let request = try request(endpoint, headers: ["Accept": "text/html", "X-Client": "tests"])
        #expect(request.value(forHTTPHeaderField: "Accept") == "application/vnd.example+json")
        #expect(request.value(forHTTPHeaderField: "X-Client") == "tests")
    }

    @Test func `default fields are not sent to another origin`() throws {
        let headers: HTTPHeaders = ["X-API-Key": "not-for-others", "User-Agent": "tests"]
        let elsewhere = Endpoint<Article>.get(.url(url("https://cdn.example.net/7")))
        let request = try request(elsewhere, headers: headers)
        #expect(request.value(forHTTPHeaderField: "X-API-Key") == nil)
        #expect(request.value(forHTTPHeaderField: "User-Agent") == "tests")
        let sameOrigin = Endpoint<Article>.get(.url(url("https://api.example.com/v2/7")))
        #expect(try self.request(sameOrigin, headers: headers).value(forHTTPHeaderField: "X-API-Key") != nil)
    }

    @Test(arguments: ["https://api.example.com/v1?x=1", "https://api.example.com/v1#x"])
    func `a base URL with a query or a fragment is refused`(base: String) {
        let configuration = NetworkConfiguration(baseURL: url(base))
        #expect(throws: NetworkError.self) { try configuration.request(for: Endpoint.article(1)) }
    }

    @Test func `a base URL may end in a slash`() throws {
        let configuration = NetworkConfiguration(baseURL: url("https://api.example.com/v1/"))
        let request = try configuration.request(for: Endpoint.article(1))
        #expect(request.url?.absoluteString == "https://api.example.com/v1/articles/1")
    }

    @Test(
        arguments: [
            ("ftp://api.example.com", "GET", "A", "b"),
            ("https://user:word@api.example.com", "GET", "A", "b"),
            ("https://api.example.com@evil.net", "GET", "A", "b"),
            ("https://api.example.com", "GE T", "A", "b"),
            ("https://api.example.com", "GET", "A:", "b"),
            ("https://api.example.com", "GET", "A", "b\u{7F}"),
        ]
    )
    func `a request that cannot be sent is refused`(text: String, method: String, name: String, value: String) {
        var request = URLRequest(url: url(text))
        request.httpMethod = method
        request.setValue(value, forHTTPHeaderField: name)
        #expect {
            try request.validate()
        } throws: { error in
            (error as? NetworkError)?.code == .invalidRequest
        }
    }

    @Test(arguments: ["b\r\nX-Injected: 1", "b\nc", "b\rc", "b\u{0}", "b\u{1B}"])
    func `a field cannot inject another field`(value: String) {
        #expect(throws: NetworkError.self) { try request(Endpoint.article(1).header("A", value)) }
        #expect(throws: NetworkError.self) { try request(Endpoint.article(1).idempotent(key: value)) }
        #expect(throws: NetworkError.self) { try request(Endpoint.article(1), headers: ["A": value]) }
        #expect(throws: NetworkError.self) { try request(Endpoint.article(1).header(value, "b")) }
    }

    @Test func `a body that an interceptor sets is refused`() {
        var request = URLRequest(url: baseURL)
        request.httpBody = Data("x".utf8)
        #expect(throws: NetworkError.self) { try request.validate() }
    }
}
