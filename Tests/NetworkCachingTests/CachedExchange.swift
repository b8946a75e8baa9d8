import AuthInterface
import ConcurrencyPrimitives
import ContractTesting
import Foundation
import NetworkCaching
import NetworkCore
import NetworkTesting
import TestSupport

/// Responds to a request and its number, from 1.
typealias ExchangeScript = @Sendable (SentRequest, Int) async throws -> HTTPTransportResponse

extension StubTransport {
    /// A transport that responds to all requests as a script says.
    convenience init(_ script: @escaping ExchangeScript) {
        let count = Locked(0)
        let response = StubResponse { request in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return try await script(request, number)
        }
        self.init((.any ~> response).repeated())
    }
}

/// Requests through a cache to a script: what is sent, and what comes back.
struct CachedExchange {
    let transport: CachingTransport
    let clock: ManualTimeSource
    var url: URL = TestSupport.url("https://a.example")
    private let exchanges: StubTransport

    init(_ cache: ResponseCache, _ clock: ManualTimeSource, _ script: @escaping ExchangeScript) {
        exchanges = StubTransport(script)
        transport = CachingTransport(exchanges, cache: cache)
        self.clock = clock
    }

    /// The requests that were sent so far.
    var requests: [SentRequest] { exchanges.requests }

    /// A script whose bodies are the numbers of the requests.
    static func numbered(_ headers: HTTPHeaders = .fresh) -> ExchangeScript {
        { _, number in .scripted(200, headers, body: Data("\(number)".utf8)) }
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
