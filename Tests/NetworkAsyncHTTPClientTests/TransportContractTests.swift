#if AsyncHTTPClient
import AsyncHTTPClient
import Foundation
import NetworkCore
import NetworkExchange
import NetworkTesting
import TestSupport
import Testing

@testable import NetworkAsyncHTTPClient

@Suite(.timeLimit(.minutes(20))) struct TransportContractTests {
    @Test func `the transport keeps the contract`() async throws {
        try await TransportContract.check(timeLimit: .seconds(900)) { AsyncHTTPClientTransport() }
    }

    @Test func `a transport that was shut down sends nothing`() async throws {
        let transport = AsyncHTTPClientTransport()
        try await transport.shutdown()
        let request = HTTPTransportRequest(head: HTTPRequestHead(url: url("http://127.0.0.1:9")))
        let error = await #expect(throws: HTTPTransportError.self) { try await transport.perform(request) }
        #expect(error?.code == .transportFailed)
    }

    @Test func `the URLs of requests are not written to the spans of the application`() {
        var hasTracer = true
        _ = AsyncHTTPClientTransport { hasTracer = $0.tracing.tracer != nil }
        #expect(!hasTracer)
    }
}
#endif
