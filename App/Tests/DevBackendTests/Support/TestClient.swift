import Foundation

@testable import DevBackend

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A plain HTTP client over a session of its own, without retries and without tokens of its own.
struct TestClient: Sendable {
    let base: URL
    private let session: URLSession

    /// Long enough for a machine under load, so that only a request that hangs reaches it.
    private static let idleTimeout = Duration.seconds(15 * 60)

    init(_ backend: DevBackend) {
        self.init(backend.baseURL)
    }

    init(_ base: URL) {
        self.base = base
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = Self.idleTimeout.seconds
        configuration.httpShouldSetCookies = false
        session = URLSession(configuration: configuration)
    }

    func send(
        _ method: String, _ path: String, token: String? = nil, headers: [String: String] = [:], body: Data? = nil
    ) async throws -> Received.Response {
        var request = URLRequest(url: try URL(string: base.absoluteString + path).required("a URL"))
        request.httpMethod = method
        request.httpBody = body
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        for (field, value) in headers { request.setValue(value, forHTTPHeaderField: field) }
        let (data, response) = try await session.data(for: request)
        let http = try (response as? HTTPURLResponse).required("an HTTP response")
        return Received.Response(status: http.statusCode, data: data, response: http)
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

    func register(_ body: Data = MultipartBody.registration()) async throws -> Received.Response {
        try await send(
            "POST", "/auth/guest/register", headers: ["Content-Type": MultipartBody.contentType], body: body)
    }

    /// Registers a guest and returns the session.
    func signIn(name: String = "Ada") async throws -> Received.SignedIn {
        try await register(MultipartBody.registration(name: name)).data(Received.SignedIn.self)
    }

    func refresh(_ token: String, key: String? = nil) async throws -> Received.Response {
        let headers = key.map { ["Idempotency-Key": $0] } ?? [:]
        return try await post("/auth/refresh", json: #"{"refreshToken": "\#(token)"}"#, headers: headers)
    }
}
