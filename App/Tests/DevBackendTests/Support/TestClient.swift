import AsyncHTTPClient
import DevBackend
import Foundation
import NIOCore
import NIOHTTP1

/// A plain HTTP client, without retries and without tokens of its own. It follows no redirect.
///
/// Not over `URLSession`: on Linux, its `POST` over a connection that the server has closed spins until its time limit,
/// on the one thread that all sessions of a process have, and the calls that wait for that thread take those of the
/// tasks.
struct TestClient: Sendable {
    let base: URL

    /// Long enough for a machine under load, so that only a request that hangs reaches it.
    private static let timeout = TimeAmount.minutes(15)

    private static let client: HTTPClient = {
        var configuration = HTTPClient.Configuration(timeout: .init(connect: timeout, read: timeout))
        // A server that has stopped is an error at once.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.redirectConfiguration = .disallow
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    init(_ backend: DevBackend) {
        self.init(backend.baseURL)
    }

    init(_ base: URL) {
        self.base = base
    }

    func send(
        _ method: String, _ path: String, token: String? = nil, headers: [String: String] = [:], body: Data? = nil
    ) async throws -> Received.Response {
        var request = HTTPClientRequest(url: base.absoluteString + path)
        request.method = HTTPMethod(rawValue: method)
        if let token { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
        for (field, value) in headers { request.headers.replaceOrAdd(name: field, value: value) }
        if let body { request.body = .bytes(body) }
        let response = try await Self.client.execute(request, timeout: Self.timeout)
        let data = Data(try await response.body.collect(upTo: .max).readableBytesView)
        return Received.Response(status: Int(response.status.code), data: data, head: response.headers)
    }

    func get(_ path: String, token: String? = nil, headers: [String: String] = [:]) async throws -> Received.Response {
        try await send("GET", path, token: token, headers: headers)
    }

    func post(
        _ path: String, json: String, token: String? = nil, headers: [String: String] = [:]
    ) async throws -> Received.Response {
        var headers = headers
        headers["Content-Type"] = "application/json"
        return try await send("POST", path, token: token, headers: headers, body: Data(json.utf8))
    }

    func post(_ path: String, form: String, headers: [String: String] = [:]) async throws -> Received.Response {
        var headers = headers
        headers["Content-Type"] = "application/x-www-form-urlencoded"
        return try await send("POST", path, headers: headers, body: Data(form.utf8))
    }

    /// Registers a guest. The body is built without the code under test.
    func register(name: String? = "Ada", image: Data? = jpeg()) async throws -> Received.Response {
        func part(_ disposition: String, _ content: Data) -> Data {
            Data("--edge\r\nContent-Disposition: form-data; \(disposition)\r\n\r\n".utf8) + content + Data("\r\n".utf8)
        }
        var body = Data()
        if let name { body += part("name=\"name\"", Data(name.utf8)) }
        if let image { body += part("name=\"image\"; filename=\"photo.jpg\"\r\nContent-Type: image/jpeg", image) }
        let type = "multipart/form-data; boundary=edge"
        return try await send(
            "POST", "/auth/guest/register", headers: ["Content-Type": type], body: body + Data("--edge--\r\n".utf8))
    }

    func signIn(name: String = "Ada") async throws -> Received.Tokens {
        try await register(name: name).data(Received.Tokens.self)
    }

    func logIn(_ provider: String = "apple", token: String) async throws -> Received.Response {
        try await post("/auth/social/login", json: #"{"provider": "\#(provider)", "token": "\#(token)"}"#)
    }

    func refresh(_ token: String, key: String? = nil) async throws -> Received.Response {
        let headers = key.map { ["Idempotency-Key": $0] } ?? [:]
        return try await post("/auth/refresh", json: #"{"refreshToken": "\#(token)"}"#, headers: headers)
    }

    func rotate(_ token: String, key: String? = nil) async throws -> Received.Tokens {
        try await refresh(token, key: key).data(Received.Tokens.self)
    }

    func create(_ token: String, title: String = "Title", key: String? = nil) async throws -> Received.Response {
        let headers = key.map { ["Idempotency-Key": $0] } ?? [:]
        let json = #"{"title": "\#(title)", "content": "Body"}"#
        return try await post("/articles", json: json, token: token, headers: headers)
    }
}
