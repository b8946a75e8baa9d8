import ContractTesting
import Foundation
import NetworkCore

/// What a rule of ``TransportContract`` is checked on.
struct TransportSubject: Sendable {
    let transport: any HTTPTransport

    /// Longer than any response of a rule takes on a slow machine.
    static let longTimeout: Duration = .seconds(90)
    static let shortTimeout: Duration = .milliseconds(300)

    func request(
        _ method: HTTPMethod = .get, _ url: URL, headers: HTTPHeaders = [:], body: HTTPBody = .none
    ) -> HTTPTransportRequest {
        HTTPTransportRequest(
            head: HTTPRequestHead(method: method, url: url, headers: headers), body: body,
            idleTimeout: Self.longTimeout)
    }

    func perform(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        try await transport.perform(request)
    }

    /// Sends a request, changed as a rule needs it, and reads the whole response.
    func send(
        _ method: HTTPMethod = .get, _ url: URL, headers: HTTPHeaders = [:], body: HTTPBody = .none,
        _ change: (inout HTTPTransportRequest) -> Void = { _ in }
    ) async throws -> HTTPResponse {
        var request = request(method, url, headers: headers, body: body)
        change(&request)
        let response = try await perform(request)
        return HTTPResponse(head: response.head, body: try await response.body.collect(upTo: .max))
    }

    /// The response to a GET of a server that sends these bytes, and then closes the connection.
    func response(to bytes: Data, method: HTTPMethod = .get) async throws -> HTTPResponse {
        let peer = try LoopbackPeer { connection in
            guard connection.readRequest() != nil else { return }
            connection.send(bytes)
        }
        defer { peer.stop() }
        return try await send(method, peer.url)
    }

    func response(to text: String, method: HTTPMethod = .get) async throws -> HTTPResponse {
        try await response(to: Data(text.utf8), method: method)
    }

    /// Expects the error of a transport, before the head or in the body.
    func expectError(_ codes: Set<NetworkError.Code>? = nil, from work: () async throws -> HTTPResponse) async throws {
        let response: HTTPResponse
        do {
            response = try await work()
        } catch let error as HTTPTransportError {
            let isExpected = codes?.contains(error.code) ?? true
            try expect(isExpected, otherwise: "the code of the error is \(error.code)")
            let isExplained = error.code != .timedOut || error.waitedFor != nil
            return try expect(isExplained, otherwise: "the error does not say what the exchange waited for")
        } catch {
            throw RuleBroken("it threw \(type(of: error))")
        }
        throw RuleBroken("there was a response: \(response.status), \(response.body.count) bytes")
    }

    /// Expects a task to end with `CancellationError`.
    func expectCancelled(_ task: Task<some Sendable, any Error>) async throws {
        switch await task.result {
        case .success: throw RuleBroken("it returned")
        case .failure(let error):
            try expect(error is CancellationError, otherwise: "it threw \(type(of: error))")
        }
    }
}

extension Data {
    /// Bytes that do not repeat soon.
    static func pattern(_ count: Int) -> Data { Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }) }
}
