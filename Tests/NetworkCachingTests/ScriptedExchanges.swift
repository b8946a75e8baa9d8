import AuthInterface
import ConcurrencyPrimitives
import ContractTesting
import Foundation
import NetworkCaching
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

/// Requests through a cache to a script: what is sent, and what comes back.
struct CachedExchange {
    let transport: CachingTransport
    let requests: Recorder<HTTPTransportRequest>
    let clock: ManualTimeSource
    var url: URL = TestSupport.url("https://a.example")

    init(_ cache: ResponseCache, _ clock: ManualTimeSource, _ respond: @escaping ScriptedExchanges.Response) {
        let exchanges = ScriptedExchanges(respond)
        (transport, requests) = (CachingTransport(exchanges, cache: cache), exchanges.requests)
        self.clock = clock
    }

    func callAsFunction(
        _ path: String = "x", method: HTTPMethod = .get, session: SessionID? = nil, token: String? = nil,
        headers: HTTPHeaders = [:]
    ) async throws -> HTTPResponse {
        var head = HTTPRequestHead(method: method, url: url.appendingPathComponent(path), headers: headers)
        var context = RequestContext(method: method, session: session, clock: clock)
        if let token {
            // A short one may be in other fields by accident, so a context does not name it.
            let token = "access-token-\(token)"
            head.headers["Authorization"] = "Bearer \(token)"
            context.carried = [token]
        }
        let request = HTTPTransportRequest(head: head, context: context)
        let response = try await transport.perform(request)
        return HTTPResponse(head: response.head, body: try await response.body.collect(upTo: 1_000_000))
    }
}

extension SessionID {
    /// The sessions in the context of a request.
    static let alice = SessionID(rawValue: "session-a")
    static let bob = SessionID(rawValue: "session-b")
}

extension HTTPHeaders {
    /// Those of a response that is fresh for a minute.
    static let fresh: HTTPHeaders = ["Cache-Control": "max-age=60"]
}

extension ScriptedExchanges {
    /// A response whose body is the number of the request.
    static func numbered(_ headers: HTTPHeaders = .fresh) -> Response {
        { _, number in .scripted(200, headers, body: Data("\(number)".utf8)) }
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
