import Foundation
import Testing

@testable import NetworkCore

/// G21.
@Suite("RequestBody")
struct RequestBodyTests {
    @Test func `only a one-shot stream cannot be sent again`() {
        let replayable: [RequestBody] = [
            .none, .data(Data()), .json(1), .form(["a": 1]), .file(url("file:///x")), .multipart(MultipartForm()),
            .sequence { Data().pieces },
        ]
        #expect(replayable.allSatisfy { $0.isReplayable })
        #expect(!RequestBody.oneShot(Data().pieces).isReplayable)
    }

    @Test func `a one-shot sequence can be read once`() async throws {
        let body = try RequestBody.oneShot(Data("x".utf8).pieces).encoded(by: .standard)
        _ = try await body.collect(upTo: 10)
        let error = try await #require(throws: HTTPBodyError.self) { try await body.collect(upTo: 10) }
        #expect(NetworkError(error).code == .bodyNotReplayable)
    }

    @Test func `a form is encoded as OAuth 2 needs it`() throws {
        let body = RequestBody.form(["grant_type": "refresh_token", "scope": nil as String?, "x": "a b&c+é"])
        #expect(body.contentType == "application/x-www-form-urlencoded")
        guard let data = try body.encoded(by: .standard).data else {
            Issue.record("a form is no data")
            return
        }
        #expect(String(decoding: data, as: UTF8.self) == "grant_type=refresh_token&x=a%20b%26c%2B%C3%A9")
    }

    @Test func `a value that cannot be encoded fails when it is sent and is not quoted`() {
        let endpoint = Endpoint<Article>.post("x", json: ["secret-canary": Double.infinity])
        #expect {
            try endpoint.body.encoded(by: .standard)
        } throws: { error in
            (error as? NetworkError)?.code == .encodingFailed && !"\(error)".contains("canary")
        }
    }
}
