import Foundation
import ProgramTesting
import Testing

@testable import DevBackend

/// Calls of every operation.
struct Calls {
    private static let client = "client_id=latchkey-dev&client_secret=development-only"
    private static let form = ["Content-Type": "application/x-www-form-urlencoded"]
    private static let upload = ["Content-Type": MultipartBody.contentType]
    private static let authorization =
        "/oauth2/authorize?response_type=code&client_id=latchkey-dev"
        + "&redirect_uri=http://127.0.0.1:1/callback&code_challenge_method=S256"
        + "&code_challenge=\(String(repeating: "A", count: 43))"

    private let backend: DevBackend
    private let client: TestClient

    init(_ backend: DevBackend) {
        self.backend = backend
        client = TestClient(backend)
    }

    @discardableResult
    private func send(
        _ method: String, _ path: String, _ body: String = "", token: String? = nil, fields: [String: String] = [:]
    ) async throws -> Received.Response {
        try await client.send(method, path, token: token, headers: fields, body: body.isEmpty ? nil : Data(body.utf8))
    }

    /// Registers a guest, also wrongly, and returns the access token.
    func signIn() async throws -> String {
        _ = try await client.register(MultipartBody.registration(name: nil))
        try await send("POST", "/auth/guest/register", "{}", fields: ["Content-Type": "application/json"])
        let guest = try await client.signIn()
        let token = guest.accessToken
        for body in ["{}", #"{"refreshToken": "\#(guest.refreshToken)"}"#, #"{"refreshToken": "x"}"#] {
            try await send("POST", "/auth/refresh", body)
        }
        try await send("POST", "/auth/logout", "{}")
        try await send("POST", "/auth/logout", #"{"refreshToken": "x"}"#)
        try await send("GET", "/openapi.json")
        try await send("GET", "/users/me")
        let me = try await client.get("/users/me", token: token).data(Received.User.self)
        let photo = "/files/\(try #require(me.profileImageKey))"
        try await send("GET", photo)
        try await send("GET", "/files/x", token: token)
        for fields in [[:], ["Range": "bytes=0-1"], ["Range": "bytes=999999-"]] {
            try await send("GET", photo, token: token, fields: fields)
        }
        return token
    }

    /// Reads and changes articles of a user, and returns the access token of another guest.
    func articles(_ token: String) async throws -> String {
        let stranger = try await client.signIn().accessToken
        let key = ["Idempotency-Key": "k"]
        let created = try await send("POST", "/articles", #"{"title": "A", "content": "B"}"#, token: token, fields: key)
        let article = String(try #require(created.header("Location")).dropFirst("/api/v1".count))
        for (body, user) in [
            (#"{"title": "A", "content": "B"}"#, token as String?), (#"{"title": "A", "content": "C"}"#, token),
            ("{}", token), ("{}", nil),
        ] { try await send("POST", "/articles", body, token: user, fields: key) }
        for path in ["/articles", article] {
            try await send("GET", path, token: token)
            try await send("GET", path)
        }
        try await send("GET", "/articles?limit=0", token: token)
        try await send("GET", "/articles/999", token: token)
        for (method, body) in [("PATCH", #"{"title": "D"}"#), ("DELETE", "")] {
            try await send(method, article, body)
            try await send(method, article, body, token: stranger)
            try await send(method, "/articles/999", body, token: token)
            if method == "PATCH" { try await send(method, article, "{", token: token) }
            try await send(method, article, body, token: token)
        }
        // The article of the key is gone.
        try await send("POST", "/articles", #"{"title": "A", "content": "B"}"#, token: token, fields: key)
        try await send("GET", "/articles/events")
        try await send("GET", "/articles/events", token: token, fields: ["Last-Event-ID": "x"])
        let stream = try await RawConnection.open(to: backend)
        try await stream.send(
            "GET /api/v1/articles/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(token)\r\n\r\n")
        _ = await stream.receive(until: "retry:")
        try await stream.close()
        return stranger
    }

    /// Signs in at a provider, and gives a guest an account.
    func signIns(_ guest: String) async throws {
        let (apple, kakao) = (DevelopmentProvider.names[0], DevelopmentProvider.names[1])
        for (path, token) in [("/auth/social/login", nil), ("/auth/guest/upgrade", guest as String?)] {
            let valid = try DevelopmentProvider().token(for: apple, subject: path, name: "Grace")
            try await send("POST", path, "{}", token: token)
            for value in ["x", valid] {
                try await send("POST", path, #"{"provider": "apple", "token": "\#(value)"}"#, token: token)
            }
        }
        let other = try DevelopmentProvider().token(for: kakao, subject: "other", name: "Grace")
        try await send("POST", "/auth/guest/upgrade", #"{"provider": "kakao", "token": "\#(other)"}"#, token: guest)
    }

    /// The endpoints of OAuth 2.0.
    func oauth2() async throws {
        _ = try await TestClient(backend.origin).get("/.well-known/oauth-authorization-server/api/v1")
        try await send("GET", "/oauth2/authorize")
        try await send("GET", Self.authorization)
        try await send("GET", "/oauth2/device")
        try await send("POST", Self.authorization, "", fields: Self.form)
        try await send("POST", Self.authorization, "name=Grace", fields: Self.form)
        let device = try await send("POST", "/oauth2/device_authorization", Self.client, fields: Self.form)
        try await send("POST", "/oauth2/device", "user_code=x&name=Grace", fields: Self.form)
        let code = try #require(device.member("user_code"))
        try await send("POST", "/oauth2/device", "user_code=\(code)&name=Grace", fields: Self.form)
        let grant = "grant_type=urn:ietf:params:oauth:grant-type:device_code&device_code="
        let deviceCode = try #require(device.member("device_code"))
        try await send("POST", "/oauth2/token", "\(grant)\(deviceCode)&\(Self.client)", fields: Self.form)
        try await send("POST", "/oauth2/revoke", "token=x&\(Self.client)", fields: Self.form)
        var wrong = Self.form
        wrong["Authorization"] = "Basic eDp4"
        for path in ["/oauth2/token", "/oauth2/revoke", "/oauth2/device_authorization"] {
            try await send("POST", path, "x=y", fields: Self.form)
            try await send("POST", path, "x=y", fields: wrong)
        }
    }

    /// Sends a body to an operation.
    func body(of operation: String) async throws {
        let words = operation.split(separator: " ").map(String.init)
        let path = String(words[1].dropFirst("/api/v1".count)).replacingOccurrences(of: "{id}", with: "1")
        let grant = try await backend.sessions.start(forUserNamed: "Ada")
        let token = try backend.sessions.pair(for: grant).accessToken
        let isForm = path.hasPrefix("/oauth2/")
        let isUpload = path.hasSuffix("/register")
        let fields = isForm ? Self.form : isUpload ? Self.upload : ["Content-Type": "application/json"]
        let body = isUpload ? MultipartBody.registration() : Data(repeating: 0x20, count: 60)
        _ = try await client.send(
            words[0], path == "/oauth2/authorize" ? Self.authorization : path, token: token, headers: fields, body: body
        )
    }
}
