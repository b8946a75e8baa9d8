import AuthInterface
import ContractTesting
import Foundation
import NetworkTestSupport
import NetworkTesting
import NetworkURLSession
import TestSupport
import Testing

@testable import NetworkCore

/// What an error says to a user, to a developer, and to code.
@Suite(.timeLimit(.minutes(10))) struct ErrorDetailTests {
    let servers = LoopbackServers()

    static func failure(_ status: Int, _ body: String) async throws -> NetworkError {
        let client = NetworkClient(StubTransport(responding: .status(status, body: Data(body.utf8))))
        return try await #require(throws: NetworkError.self) { _ = try await client.send(.article(7)) }
    }

    @Test(arguments: [
        (404, #"{"code":"NOT_FOUND","message":"The article was removed."}"#, "The article was removed."),
        (404, #"{"code":"NOT_FOUND","message":"Not Found"}"#, "This could not be found."),
        (404, "<html>nginx</html>", "This could not be found."),
        (
            400, #"{"error":"invalid_grant","error_description":"The token has no scope"}"#,
            "The server did not accept the request."
        ),
        (500, #"{"message":"No rows in table"}"#, "The server has a problem."),
        (422, #"{"message":"SELECT * FROM x WHERE id = 7;"}"#, "The server did not accept the request."),
        (401, "", "You are not signed in."), (429, "", "There were too many requests."),
    ])
    func `the localized description is a sentence for a user`(status: Int, body: String, text: String) async throws {
        #expect(try await Self.failure(status, body).localizedDescription == text)
    }

    @Test func `every code has a sentence of its own words`() {
        let codes: [NetworkError.Code] = [
            .invalidRequest, .encodingFailed, .cleartextRefused, .interceptorFailed, .connectionFailed, .timedOut,
            .tlsFailed, .transportFailed, .unsuccessful, .decodingFailed, .invalidResponse, .responseTooLarge,
            .redirectRefused, .tooManyRedirects, .bodyNotReplayable, .notSignedIn, .sessionEnded, .unauthorized,
            .noRefreshToken, .refreshUnavailable, .storeUnavailable, .authenticationFailed, .init(rawValue: "own"),
        ]
        for code in codes {
            let text = NetworkError(code).localizedDescription
            #expect(text.hasSuffix(".") && text.contains(" ") && !text.contains(code.rawValue), "\(code): \(text)")
        }
        let others: [any Error] = [
            AuthenticationError(.sessionEnded), TokenRefreshError.rejected, TokenStoreError(.busy, reason: "x y"),
            HTTPBodyError.unreadable, HTTPTransportError(.timedOut, reason: "r"), ServerError(code: "X"),
            HTTPFieldError(code: .invalidName, field: "x"),
        ]
        for text in others.map(\.localizedDescription) { #expect(text.hasSuffix(".") && !text.contains("error 1")) }
        #expect(NetworkError(.unacceptableStatus, retryAfter: .seconds(30)).recoverySuggestion == "Try again in 30 s.")
    }

    struct Problem: Codable, Equatable {
        var type: String
        var balance: Int
    }

    @Test func `the server's own error can be decoded, and its body is not shown`() async throws {
        let error = try await Self.failure(403, #"{"type":"out-of-credit","balance":30}"#)
        #expect(try error.decode(Problem.self) == Problem(type: "out-of-credit", balance: 30))
        #expect(error.body?.isEmpty == false)
        for text in RedactionTests.texts(of: error) { #expect(!text.contains("out-of-credit")) }
        #expect(throws: DecodingError.self) { try NetworkError(.timedOut).decode(Problem.self) }
    }

    @Test func `an error keeps no more of a body than its limit, and a missing body is named`() async throws {
        let error = try await Self.failure(500, String(repeating: "x", count: 1_000_000))
        #expect(error.body?.count == NetworkError.maximumBodyLength)
        let empty = try await Self.failure(204, "")
        #expect(empty.code == .decodingFailed && "\(empty)".contains("204 decodingFailed: the response has no body"))
    }

    @Test func `a body cut short, a closed connection and a response that is not HTTP are named`() async throws {
        let server = try servers.start { request in
            switch request.target {
            case "/cut": .raw(Data("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf".utf8))
            case "/chunk": .raw(Data("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhal".utf8))
            case "/close": .close
            default: .raw(Data("SSH-2.0-OpenSSH_9.2\r\n\r\n".utf8))
            }
        }
        let client = NetworkClient(baseURL: server.url, transport: URLSessionTransport())
        for (path, code, text) in [
            ("cut", NetworkError.Code.connectionFailed, "before the end of the response"),
            ("chunk", .connectionFailed, "before the end of the response"),
            ("close", .connectionFailed, "before the response"), ("ssh", .invalidResponse, "not HTTP"),
        ] {
            let error = await networkError { try await client.send(Endpoint<Data>.get(EndpointPath(path))) }
            let shown = error.map(String.init(describing:)) ?? ""
            #expect(error?.code == code && shown.contains(text), "\(path): \(shown)")
        }
    }

    @Test func `cookies of two fields stay two, and a scheme may have capitals`() async throws {
        let server = try servers.start { _ in
            let fields = ["a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Path=/", "b=2,3", "c=\"x, y\"; HttpOnly"]
            let head = fields.map { "Set-Cookie: \($0)\r\n" }.joined()
            return .raw(Data("HTTP/1.1 200 OK\r\n\(head)Content-Length: 0\r\n\r\n".utf8))
        }
        let link = url("HTTP://127.0.0.1:\(server.url.port ?? 0)/x")
        let client = NetworkClient(baseURL: server.url, transport: URLSessionTransport())
        let response = try await client.send(Endpoint<HTTPResponse>.request(.get, .url(link)))
        #expect(
            response.headers.values(of: "Set-Cookie")
                == ["a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Path=/", "b=2,3", "c=\"x, y\"; HttpOnly"])
    }
}
