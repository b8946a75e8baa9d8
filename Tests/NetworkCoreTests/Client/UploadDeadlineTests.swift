import AuthInterface
import ContractTesting
import Foundation
import NetworkCore
import NetworkTestSupport
import NetworkTesting
import TestSupport
import Testing

/// G25: an upload has no total deadline. Each of its waits has one, however long the exchanges before it took.
@Suite(.timeLimit(.minutes(10))) struct UploadDeadlineTests {
    private let clock = ManualTimeSource()
    private let transport = StubTransport()

    private func client(_ interceptors: [any RequestInterceptor] = []) -> NetworkClient {
        NetworkClient(
            configuration: NetworkConfiguration(baseURL: baseURL), transport: transport, interceptors: interceptors,
            clock: clock)
    }

    /// Responds after an upload that takes longer than the client's deadline. `nil`: it fails.
    private func late(
        _ head: HTTPResponseHead?, _ repetition: HTTPTransportError.Repetition = .unknown
    ) -> StubResponse {
        StubResponse { [clock] _ in
            clock.advance(by: .seconds(90))
            guard let head else {
                throw HTTPTransportError(.connectionFailed, reason: "cut", repetition: repetition)
            }
            return HTTPTransportResponse(head: head)
        }
    }

    private let redirect = HTTPResponseHead(status: 303, headers: ["Location": "/result"])

    private var options: RequestOptions {
        var options = RequestOptions()
        options.minimumRate = MinimumRate(bytes: 1, in: .seconds(3_600))
        return options
    }

    private let upload = Endpoint<HTTPResponse>.request(.put, "file", body: .data(Data("content".utf8)))

    @Test func `a long upload may be redirected to its result`() async throws {
        transport.add(.any ~> late(redirect))
        transport.add(.any ~> .status(200))
        #expect(try await client().send(upload, options: options).status == 200)
        #expect(transport.requests.map(\.url?.lastPathComponent) == ["file", "result"])
    }

    @Test func `a long upload that has failed may be retried`() async throws {
        transport.add(.any ~> late(nil))
        transport.add(.any ~> .status(200))
        let retries = RetryPolicy(attempts: 2, baseDelay: .zero)
        #expect(try await client([retries]).send(upload, options: options).status == 200)
        #expect(transport.requests.count == 2)
    }

    @Test func `a long upload that the server has not processed is repeated`() async throws {
        transport.add(.any ~> late(nil, .always))
        transport.add(.any ~> .status(200))
        #expect(try await client().send(upload, options: options).status == 200)
    }

    @Test func `a call that is no upload has its deadline in all`() async throws {
        transport.add(.any ~> late(redirect))
        let error = await #expect(throws: NetworkError.self) { try await client().send(upload) }
        #expect(error?.code == .timedOut && transport.requests.count == 1)
    }
}
