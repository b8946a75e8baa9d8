import AuthInterface
import ConcurrencyPrimitives
import Foundation
import NetworkCore
import TestSupport

/// Responds as a closure says, which is called with the request and its number, from 1.
struct ScriptedExchanges: HTTPTransport {
    typealias Response = @Sendable (HTTPTransportRequest, Int) async throws -> HTTPTransportResponse

    let requests = Recorder<HTTPTransportRequest>()
    var endsInTime = false
    private let number = Locked(0)
    private let respond: Response

    init(endsInTime: Bool = false, _ respond: @escaping Response) {
        self.endsInTime = endsInTime
        self.respond = respond
    }

    func perform(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        requests.record(request)
        let number = number.withLock { number in
            number += 1
            return number
        }
        return try await respond(request, number)
    }
}

extension HTTPTransportResponse {
    static func scripted(_ status: Int = 200, _ headers: HTTPHeaders = [:], body: Data = Data("body".utf8)) -> Self {
        HTTPTransportResponse(head: HTTPResponseHead(status: status, headers: headers), body: HTTPBody(body))
    }
}

/// A session that is in one state after the other.
struct PassingSession: AuthSession {
    let passed: [SessionState]

    var state: SessionState { passed.last ?? .unknown }

    var states: AsyncStream<SessionState> {
        AsyncStream { continuation in
            for state in passed { continuation.yield(state) }
            continuation.finish()
        }
    }

    func restore() async throws -> SessionState { state }
    func signIn(_ tokens: TokenRefreshResult) async throws {}
    func refresh() async throws -> SessionState { state }
    func signOut(reason: SignOutReason) async throws {}
}
