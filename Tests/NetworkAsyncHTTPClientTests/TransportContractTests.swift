#if AsyncHTTPClient
import AsyncHTTPClient
import Crypto
import Foundation
import NetworkCore
import NetworkTesting
import Testing

@testable import NetworkAsyncHTTPClient

@Suite(.timeLimit(.minutes(20))) struct TransportContractTests {
    @Test func `the transport keeps the contract`() async throws {
        try await TransportContract.check { AsyncHTTPClientTransport() }
    }

    @Test func `a transport that was shut down sends nothing`() async throws {
        let transport = AsyncHTTPClientTransport()
        try await transport.shutdown()
        let url = try #require(URL(string: "http://127.0.0.1:9"))
        let error = await #expect(throws: HTTPTransportError.self) {
            try await transport.perform(HTTPTransportRequest(head: HTTPRequestHead(url: url)))
        }
        #expect(error?.code == .transportFailed)
    }

    @Test func `the URLs of requests are not written to the spans of the application`() {
        var hasTracer = true
        _ = AsyncHTTPClientTransport { hasTracer = $0.tracing.tracer != nil }
        #expect(!hasTracer)
    }

    @Test func `a pin that is no digest is refused`() {
        #expect(throws: HTTPTransportError.self) { try PublicKeyPins(["api.example.com": ["YWJj"]]) }
        #expect(throws: HTTPTransportError.self) { try PublicKeyPins(["api.example.com": []]) }
    }

    @Test func `the digest of a text is the one of the standard`() {
        let digest = NetworkCore.SHA256.digest(of: Array("abc".utf8)).map { String($0, radix: 16) }.joined(
            separator: " ")
        let expected = "ba 78 16 bf 8f 1 cf ea 41 41 40 de 5d ae 22 23 b0 3 61 a3 96 17 7a 9c b4 10 ff 61 f2 0 15 ad"
        #expect(digest == expected)
    }

    @Test func `digests of every length are those of another implementation`() {
        for length in 0..<300 {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            #expect(
                NetworkCore.SHA256.digest(of: bytes) == Data(Crypto.SHA256.hash(data: bytes)),
                "\(length) bytes")
        }
    }
}
#endif
