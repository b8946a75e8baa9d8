import AuthInterface
import Foundation
import NetworkTestSupport
import NetworkTesting
import TestSupport
import Testing

@testable import NetworkCore

/// G17: a server that quotes the request in its error, against every place in which a call carries a secret.
@Suite(.timeLimit(.minutes(10))) struct QuotedCallTests {
    static let token = SessionToken(
        value: "access-token-canary", refreshToken: "refresh-token-canary", session: SessionID(rawValue: "s"),
        generation: 0)

    static var multipart: RequestBody {
        var form = MultipartForm()
        form.append("password", "canary-of-a-part")
        return .multipart(form)
    }

    static let basic = "Basic \(Data("client-1:canary-of-basic".utf8).base64EncodedString())"

    @Test func `a target of a redirect and a key of a response that quote the token are not shown`() async throws {
        let observer = Recorder<NetworkEvent>()
        let body = #"{"access-token-canary\nline":"x"}"#
        let transport = StubTransport(
            responding: .redirect(to: "/x/access-token-canary?q=access-token-canary"),
            .status(200, body: Data(body.utf8)))
        let client = NetworkClient(transport, observers: [observer])
            .authenticated(by: ScriptedTokenProvider(Self.token))
        let error = try #require(await networkError { try await client.send(Endpoint<[String: Int]>.get("x")) })
        #expect(error.code == .decodingFailed && observer.values.count == 7)
        for text in RedactionTests.texts(of: error) + observer.values.flatMap({ RedactionTests.texts(of: $0) }) {
            #expect(!text.contains("canary"))
        }
        #expect("\(error)".contains("typeMismatch at redacted line"))
    }

    @Test(arguments: [
        ("access-token-canary", Endpoint<Article>.article(7)), ("refresh-token-canary", .article(7)),
        ("canary-of-a-body", .post("x", json: ["auth": ["provider_token": "canary-of-a-body"]])),
        ("canary-of-a-form", .post("x", body: .form(["client_secret": "canary-of-a-form"]))),
        ("canary-of-a-part", .post("x", body: multipart)),
        ("canary-of-basic", .post("x", body: .none).header("Authorization", basic).withoutAuthentication()),
        ("canary-of-a-key", .get("x").header("X-API-Key", "canary-of-a-key")),
        ("canary-of-a-query", .get("x", query: ["code_verifier": "canary-of-a-query"])),
        ("canary/of a path", .get("reset/\(secret: "canary/of a path")")),
        ("canary", .get("reset/\(secret: "canary")")),
    ])
    func `nothing that a call carried is shown`(secret: String, endpoint: Endpoint<Article>) async throws {
        let quotes = [
            secret, secret.percentEncodedComponent, secret.replacing("/", with: #"\/"#),
            Data(secret.utf8).base64EncodedString(),
        ]
        for quote in quotes {
            let body =
                #"{"code":"BAD","message":"no such thing: "#
                + String(decoding: try JSONEncoder().encode(quote), as: UTF8.self).dropFirst().dropLast()
                + #"","errors":[{"field":"x","message":"\#(quote.replacing(#"\"#, with: #"\\"#))"}]}"#
            let headers: HTTPHeaders = ["X-Request-ID": "req-\(quote)", "ETag": "\"tag\""]
            let refusal = StubResponse.status(400, headers: headers, body: Data(body.utf8))
            let observer = Recorder<NetworkEvent>()
            let client = NetworkClient(StubTransport(responding: refusal), observers: [observer]).authenticated(
                by: ScriptedTokenProvider(Self.token),
                policy: AuthenticationPolicy(placement: .fields(refreshToken: "rt")))
            let error = try await #require(throws: NetworkError.self) { _ = try await client.send(endpoint) }
            #expect(error.status == 400 && error.serverError?.code == "BAD")
            var texts = RedactionTests.texts(of: error) + observer.values.flatMap { RedactionTests.texts(of: $0) }
            if let quoted = error.serverError { texts += RedactionTests.texts(of: quoted) }
            texts += [
                error.request?.url ?? "", error.reason ?? "", error.requestID ?? "", "\(endpoint)",
                error.localizedDescription,
            ]
            for text in texts {
                #expect(!text.contains(secret) && !text.contains(quote), "\(text) shows \(secret)")
            }
            #expect(error.body?.isEmpty == false)
        }
    }

    @Test func `a transport's text is shown without the secrets of the call`() async throws {
        let response = StubResponse { _ in
            throw HTTPTransportError(.transportFailed, reason: "curl -H 'Authorization: Bearer access-token-canary'")
        }
        let client = NetworkClient(StubTransport(responding: response))
            .authenticated(by: ScriptedTokenProvider(Self.token))
        let error = try await #require(throws: NetworkError.self) { _ = try await client.send(.article(7)) }
        for text in RedactionTests.texts(of: error) + ["\(String(describing: error.cause))"] {
            #expect(!text.contains("access-token-canary"))
        }
        #expect("\(error)".contains("curl -H 'Authorization: redacted'"))
    }

    @Test func `values that are returned stay as the server sent them`() async throws {
        let article = Article(id: 7, title: "access-token-canary")
        let client = NetworkClient(StubTransport(responding: .json(article)))
            .authenticated(by: ScriptedTokenProvider(Self.token))
        #expect(try await client.send(.article(7)) == article)
    }
}
