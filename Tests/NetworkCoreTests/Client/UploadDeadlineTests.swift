import ContractTesting
import Foundation
import NetworkCore
import TestSupport
import Testing

@testable import NetworkTesting

/// G25: an upload has no total deadline. Each of its waits has one, however long the exchanges before it took.
@Suite(.timeLimit(.minutes(10))) struct UploadDeadlineTests {
    private let clock = ManualTimeSource()
    private let transport = StubTransport()

    private func client(_ interceptors: [any RequestInterceptor] = []) -> NetworkClient {
        NetworkClient(transport, interceptors: interceptors, clock: clock)
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

    enum Next: CaseIterable {
        case redirected, retried, repeated
    }

    @Test(arguments: Next.allCases)
    func `a long upload may be redirected to its result, retried, or repeated where it was not processed`(
        next: Next
    ) async throws {
        switch next {
        case .redirected: transport.respond(late(redirect), .status(200))
        case .retried: transport.respond(late(nil), .status(200))
        case .repeated: transport.respond(late(nil, .always), .status(200))
        }
        let client = client(next == .retried ? [RetryPolicy(attempts: 2, baseDelay: .zero)] : [])
        #expect(try await client.send(upload, options: options).status == 200)
        let last = next == .redirected ? "result" : "file"
        #expect(transport.requests.map(\.url?.lastPathComponent) == ["file", last])
    }

    /// Sends a body while it reads it, with a pause after each piece, or when it has read it, and responds after some
    /// seconds, each of which passes when the client waits for the clock.
    private struct Worker: HTTPTransport {
        let clock: ManualTimeSource
        let seconds: Int
        var sendsAtEnd = false
        var pause = 0

        private func wait(_ seconds: Int) async throws {
            for _ in 0..<seconds {
                try Task.checkCancellation()
                try await clock.advance(by: .seconds(1), whenAsleep: 1)
            }
        }

        func perform(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
            var (read, sent) = ([Int](), 0)
            func send(_ count: Int) {
                sent += count
                let progress = TransferProgress(completed: Int64(sent), total: nil)
                request.onEvent?(HTTPTransportEvent(.sent, progress: progress))
            }
            for try await piece in request.body {
                if sendsAtEnd { read.append(piece.count) } else { send(piece.count) }
                try await wait(pause)
            }
            for count in read { send(count) }
            try await wait(seconds)
            return HTTPTransportResponse(head: HTTPResponseHead(status: 200))
        }
    }

    private static let pieces: @Sendable () -> AsyncStream<Data> = {
        AsyncStream([Data("content".utf8), Data("content".utf8)])
    }

    /// Sends a body of which so many bytes must be sent in each window.
    private func send(
        _ body: RequestBody, over transport: Worker, bytes: Int64, in window: Duration = .seconds(10)
    ) async throws -> HTTPResponse {
        var options = RequestOptions()
        options.minimumRate = MinimumRate(bytes: bytes, in: window)
        let client = NetworkClient(transport, clock: clock)
        return try await client.send(.request(.put, "file", body: body), options: options)
    }

    /// Six minutes: six times the deadline of a call.
    @Test(arguments: [(1, false), (8_192, true)])
    func `an upload may take long, and not indefinitely`(part: Int, isFastEnough: Bool) async throws {
        let body = RequestBody.oneShot(AsyncStream(Array(repeating: Data(count: part), count: 18)))
        let transport = Worker(clock: clock, seconds: 0, pause: 20)
        let call = Task { try await send(body, over: transport, bytes: 4_096, in: .seconds(60)) }
        if isFastEnough { return #expect(try await call.value.status == 200) }
        let error = await #expect(throws: NetworkError.self) { try await call.value }
        #expect(error?.code == .timedOut && error?.waitedFor == .requestBody)
        #expect(error?.reason?.contains("less than 4096 bytes in 1 min") == true)
    }

    @Test(arguments: [false, true], [false, true])
    func `a server may work on an upload of unknown length`(isOneShot: Bool, sendsAtEnd: Bool) async throws {
        // Longer than the window of the rate, and shorter than the limit of a wait for a response.
        let transport = Worker(clock: clock, seconds: 45, sendsAtEnd: sendsAtEnd)
        let body = isOneShot ? RequestBody.oneShot(Self.pieces()) : .sequence(make: Self.pieces)
        #expect(try await send(body, over: transport, bytes: 4).status == 200)
    }

    /// The length of a body that has 14 bytes, the bytes that must be sent in ten seconds, and after how many seconds
    /// the client waits no longer: for the rate from the first byte, or for the response to a body of unknown length.
    @Test(
        arguments: [(14, 15, .requestBody, 10), (nil, 4, .responseHead, 60)]
            as [(Int64?, Int64, NetworkError.Wait, Int)])
    func `a slow upload, and a server that does not respond to one, are left`(
        length: Int64?, bytes: Int64, wait: NetworkError.Wait, seconds: Int
    ) async throws {
        let (transport, start) = (Worker(clock: clock, seconds: 75), clock.uptime)
        let body = RequestBody.oneShot(Self.pieces(), length: length)
        let error = await #expect(throws: NetworkError.self) { try await send(body, over: transport, bytes: bytes) }
        #expect(error?.code == .timedOut && error?.waitedFor == wait)
        #expect(clock.uptime == start + .seconds(seconds))
    }

    @Test func `a call that is no upload has its deadline in all`() async throws {
        transport.respond(late(redirect))
        let error = await #expect(throws: NetworkError.self) { try await client().send(upload) }
        #expect(error?.code == .timedOut && transport.requests.count == 1)
    }
}
