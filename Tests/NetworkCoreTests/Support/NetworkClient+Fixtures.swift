import ConcurrencyPrimitives
import NetworkCore
import NetworkTestSupport
import NetworkTesting
import TestSupport

extension NetworkClient {
    /// A client of the base URL of the tests.
    init(
        _ transport: any HTTPTransport, interceptors: [any RequestInterceptor] = [],
        observers: [any NetworkObserver] = [], clock: any TimeSource = SystemTimeSource(),
        configure: (inout NetworkConfiguration) -> Void = { _ in }
    ) {
        var configuration = NetworkConfiguration(baseURL: baseURL)
        configure(&configuration)
        self.init(
            configuration: configuration, transport: transport, interceptors: interceptors, observers: observers,
            clock: clock)
    }
}

extension StubTransport {
    /// A transport that responds to any requests, with one response after the other.
    convenience init(
        responding first: StubResponse, _ others: StubResponse..., file: StaticString = #filePath, line: UInt = #line
    ) {
        self.init(([first] + others).map { .any ~> $0 }, file: file, line: line)
    }

    /// Adds responses to any requests, one after the other.
    func respond(_ responses: StubResponse...) { for response in responses { add(.any ~> response) } }

    /// The values of a field of the requests, in order.
    func sent(_ field: String) -> [String?] { requests.map { $0.headers[field] } }
}

extension StubResponse {
    /// The response to `Endpoint.article(7)`.
    static let article = StubResponse.json(Article(id: 7, title: "x"))

    static func redirect(_ status: Int = 302, to location: String) -> StubResponse {
        .status(status, headers: ["Location": location])
    }

    /// A refusal with a challenge.
    static func challenge(_ field: String, status: Int = 401) -> StubResponse {
        .status(status, headers: ["WWW-Authenticate": field])
    }
}

extension AuthenticationPolicy {
    /// The default policy with changes.
    static func with(_ change: (inout Self) -> Void) -> Self {
        var policy = Self()
        change(&policy)
        return policy
    }
}

extension RetryPolicy {
    /// A policy whose random numbers are all the same.
    init(attempts: Int = 3, random: Double) {
        self.init(attempts: attempts)
        self.random = { random }
    }
}

/// Records each request as a transport receives it, and passes it on.
struct RequestRecorder: HTTPTransport {
    let next: StubTransport
    let requests = Recorder<HTTPTransportRequest>()

    func perform(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        requests.record(request)
        return try await next.perform(request)
    }
}

/// Changes, looks at or refuses each request.
struct AdaptingInterceptor: RequestInterceptor {
    private let change: @Sendable (HTTPRequestHead) throws -> HTTPRequestHead

    init(_ change: @escaping @Sendable (HTTPRequestHead) throws -> HTTPRequestHead) { self.change = change }

    func adapt(_ request: HTTPRequestHead, context: RequestContext) async throws -> HTTPRequestHead {
        try change(request)
    }
}
