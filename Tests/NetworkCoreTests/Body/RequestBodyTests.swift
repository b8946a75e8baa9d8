import Foundation
import Testing

@testable import NetworkCore

/// G21.
@Suite("RequestBody")
struct RequestBodyTests {
    @Test func `only a one-shot stream cannot be sent again`() {
        let replayable: [RequestBody] = [
            .none, .data(Data()), .json(1), .form(["a": 1]), .file(url("file:///x")), .multipart(MultipartForm()),
            .stream { InputStream(data: Data()) },
        ]
        #expect(replayable.allSatisfy { $0.isReplayable })
        #expect(!RequestBody.oneShot(InputStream(data: Data())).isReplayable)
    }

    @Test func `a one-shot stream can be taken once`() throws {
        let body = try EncodedBody(.oneShot(InputStream(data: Data("x".utf8))), coding: .standard)
        guard case .stream(_, let make) = body.content else {
            Issue.record("a one-shot body is no stream: \(body.content)")
            return
        }
        _ = try make()
        #expect {
            try make()
        } throws: { error in
            (error as? NetworkError)?.code == .bodyNotReplayable
        }
    }

    @Test func `a form is encoded as OAuth 2 needs it`() throws {
        let body = RequestBody.form(["grant_type": "refresh_token", "scope": nil as String?, "x": "a b&c+é"])
        #expect(body.contentType == "application/x-www-form-urlencoded")
        guard case .data(let data) = try EncodedBody(body, coding: .standard).content else {
            Issue.record("a form is no data")
            return
        }
        #expect(String(decoding: data, as: UTF8.self) == "grant_type=refresh_token&x=a%20b%26c%2B%C3%A9")
    }

    @Test func `a value that cannot be encoded fails when it is sent and is not quoted`() {
        let endpoint = Endpoint<Article>.post("x", json: ["secret-canary": Double.infinity])
        #expect {
            try EncodedBody(endpoint.body, coding: .standard)
        } throws: { error in
            (error as? NetworkError)?.code == .encodingFailed && !"\(error)".contains("canary")
        }
    }
}
