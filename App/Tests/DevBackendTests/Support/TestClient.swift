import Foundation

@testable import DevBackend

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A plain HTTP client over a session of its own: no retries, no tokens but those it is given.
struct TestClient: Sendable {
    let base: URL
    private let session: URLSession

    init(_ backend: DevBackend) {
        self.init(backend.baseURL)
    }

    init(_ base: URL) {
        self.base = base
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = Stuck.after.seconds
        configuration.httpShouldSetCookies = false
        session = URLSession(configuration: configuration)
    }

    func send(
        _ method: String, _ path: String, token: String? = nil, headers: [String: String] = [:], body: Data? = nil
    ) async throws -> ReceivedResponse {
        var request = URLRequest(url: try URL(string: base.absoluteString + path).required("a URL"))
        request.httpMethod = method
        request.httpBody = body
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        for (field, value) in headers { request.setValue(value, forHTTPHeaderField: field) }
        let (data, response) = try await session.data(for: request)
        let http = try (response as? HTTPURLResponse).required("an HTTP response")
        return ReceivedResponse(status: http.statusCode, data: data, response: http)
    }

    func get(_ path: String, token: String? = nil, headers: [String: String] = [:]) async throws -> ReceivedResponse {
        try await send("GET", path, token: token, headers: headers)
    }

    func post(
        _ path: String, json: String, token: String? = nil, headers: [String: String] = [:]
    ) async throws -> ReceivedResponse {
        var headers = headers
        headers["Content-Type"] = "application/json"
        return try await send("POST", path, token: token, headers: headers, body: Data(json.utf8))
    }

    func post(_ path: String, form: String, headers: [String: String] = [:]) async throws -> ReceivedResponse {
        var headers = headers
        headers["Content-Type"] = "application/x-www-form-urlencoded"
        return try await send("POST", path, headers: headers, body: Data(form.utf8))
    }

    func register(_ body: Data = MultipartBody.registration()) async throws -> ReceivedResponse {
        try await send(
            "POST", "/auth/guest/register", headers: ["Content-Type": MultipartBody.contentType], body: body)
    }

    /// Registers a guest and hands out the session.
    func signIn(name: String = "Ada") async throws -> SignedIn {
        try await register(MultipartBody.registration(name: name)).data(SignedIn.self)
    }

    func refresh(_ token: String, key: String? = nil) async throws -> ReceivedResponse {
        let headers = key.map { ["Idempotency-Key": $0] } ?? [:]
        return try await post("/auth/refresh", json: #"{"refreshToken": "\#(token)"}"#, headers: headers)
    }
}

/// What came back.
struct ReceivedResponse: Sendable {
    let status: Int
    let data: Data
    let response: HTTPURLResponse

    func header(_ name: String) -> String? { response.value(forHTTPHeaderField: name) }

    func envelope<Payload: Decodable>(_ type: Payload.Type) throws -> ReceivedEnvelope<Payload> {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return try decoder.decode(ReceivedEnvelope<Payload>.self, from: data)
    }

    /// The envelope's payload.
    func data<Payload: Decodable>(_ type: Payload.Type) throws -> Payload {
        let envelope = try envelope(type)
        return try envelope.data.required("data, not \(envelope.code)")
    }

    /// The envelope's code.
    var code: String? { try? envelope(Ignored.self).code }

    /// The fields the envelope complains about.
    var fields: [String] { ((try? envelope(Ignored.self).errors) ?? []).compactMap(\.field) }

    /// A member of a JSON object that is no envelope.
    func member(_ name: String) -> String? {
        let object = (try? JSONSerialization.jsonObject(with: data)) as? [String: Any]
        return object?[name].map { "\($0)" }
    }
}

/// A payload that is not looked at.
struct Ignored: Decodable {
    init(from decoder: any Decoder) {}
}

struct ReceivedEnvelope<Payload: Decodable>: Decodable {
    struct FieldError: Decodable {
        let field: String?
        let message: String
    }

    struct Meta: Decodable {
        let timestamp: Date
        let path: String
        let requestId: String
        let durationMs: Int
    }

    let success: Bool
    let code: String
    let message: String
    let data: Payload?
    let errors: [FieldError]?
    let meta: Meta
}

struct ReceivedUser: Decodable, Equatable {
    let id: Int64
    let name: String
    let profileUrl: String?
    let profileImageKey: String?
}

struct SignedIn: Decodable {
    let user: ReceivedUser
    let accessToken: String
    let refreshToken: String
}

struct Pair: Decodable, Equatable {
    let accessToken: String
    let refreshToken: String
}

struct ReceivedArticle: Decodable, Equatable {
    struct Author: Decodable, Equatable {
        let id: Int64
        let name: String
    }

    let id: Int
    let title: String
    let body: String
    let author: Author
    let createdAt: Date
    let updatedAt: Date
}

struct ReceivedPage: Decodable {
    let items: [ReceivedArticle]
    let nextCursor: String?
}
