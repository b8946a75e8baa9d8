#if HTTPTypes
import Foundation
import HTTPTypes
import NetworkCore
import Testing

/// The conversions from and to swift-http-types.
@Suite struct HTTPTypesTests {
    @Test(arguments: [
        ("https://api.example.com/v1/notes?page=2&q=a%20b", "api.example.com", "/v1/notes?page=2&q=a%20b"),
        ("http://127.0.0.1:8080", "127.0.0.1:8080", "/"), ("https://[::1]:8443/a%2Fb", "[::1]:8443", "/a%2Fb"),
        ("https://example.com?", "example.com", "/?"),
    ])
    func `a request keeps its URL, both ways`(text: String, authority: String, path: String) throws {
        let url = try #require(URL(string: text))
        let request = try HTTPRequest(HTTPRequestHead(method: .delete, url: url))
        #expect(request.method == .delete && request.scheme == url.scheme)
        #expect(request.authority == authority && request.path == path)
        let head = try HTTPRequestHead(request)
        #expect(head.method == .delete)
        #expect(head.url.absoluteString == "\(url.scheme ?? "")://\(authority)\(path)")
    }

    @Test func `fields keep their order, their case and each value, both ways`() throws {
        let url = try #require(URL(string: "https://example.com/"))
        var headers = NetworkCore.HTTPHeaders()
        for (name, value) in [("Via", "1.1 a"), ("X-Name", "Ada\tLovelace, é"), ("via", "1.1 b")] {
            try headers.append(name, value)
        }
        let request = try HTTPRequest(HTTPRequestHead(url: url, headers: headers))
        #expect(request.headerFields.map(\.name.rawName) == ["Via", "X-Name", "via"])
        #expect(request.headerFields[values: try #require(HTTPTypes.HTTPField.Name("via"))] == ["1.1 a", "1.1 b"])
        #expect(try HTTPRequestHead(request).headers == headers)
    }

    @Test func `the transport's own fields of a request are left out`() throws {
        let request = HTTPRequest(
            method: .post, scheme: "https", authority: "example.com", path: "/",
            headerFields: [.contentLength: "3", .transferEncoding: "chunked", .connection: "close", .accept: "*/*"])
        #expect(try HTTPRequestHead(request).headers == ["Accept": "*/*"])
    }

    @Test(arguments: [
        HTTPRequest(method: .connect, scheme: nil, authority: "example.com:443", path: nil),
        HTTPRequest(method: .options, scheme: "https", authority: "example.com", path: "*"),
        HTTPRequest(method: .get, scheme: "https", authority: nil, path: "/"),
        HTTPRequest(method: .get, scheme: "ftp", authority: "example.com", path: "/"),
        HTTPRequest(method: .get, scheme: "https", authority: "ada:secret@example.com", path: "/"),
        HTTPRequest(method: .get, scheme: "https", authority: "example.com/evil", path: "/"),
    ])
    func `a request that no client sends is refused`(request: HTTPRequest) {
        let error = #expect(throws: NetworkError.self) { try HTTPRequestHead(request) }
        #expect(error?.code == .invalidRequest)
    }

    @Test func `a head that cannot be sent is refused`() throws {
        let url = try #require(URL(string: "https://example.com/"))
        for head in [
            HTTPRequestHead(url: url, headers: ["Name": "Ada\r\nHost: evil"]),
            HTTPRequestHead(url: url, headers: ["Content-Length": "3"]),
            HTTPRequestHead(method: HTTPMethod(rawValue: "GET /evil"), url: url),
        ] {
            let error = #expect(throws: NetworkError.self) { try HTTPRequest(head) }
            #expect(error?.code == .invalidRequest)
        }
    }

    @Test func `a response keeps its status and fields, both ways`() throws {
        let url = try #require(URL(string: "https://example.com/after"))
        let head = HTTPResponseHead(
            status: 404, headers: HTTPHeaders([("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"), ("Content-Length", "3")]))
        let response = try HTTPTypes.HTTPResponse(head)
        #expect(response.status == .notFound && response.headerFields[values: .setCookie] == ["a=1", "b=2"])
        #expect(HTTPResponseHead(response) == head)
        #expect(HTTPResponseHead(response, url: url).url == url)
    }

    @Test(arguments: [-1, 1_000]) func `a status that is none of HTTP is refused`(status: Int) {
        let error = #expect(throws: NetworkError.self) { try HTTPTypes.HTTPResponse(HTTPResponseHead(status: status)) }
        #expect(error?.code == .invalidResponse)
    }
}
#endif
