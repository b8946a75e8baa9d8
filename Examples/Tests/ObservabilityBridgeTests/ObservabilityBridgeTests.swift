import CoreMetrics
import Foundation
import InMemoryLogging
import InMemoryTracing
import Logging
import MetricsTestKit
import NetworkCore
import NetworkTesting
import ObservabilityBridge
import Testing
import Tracing

/// The bridges over backends in memory. The last attempt of each call succeeds, or fails for good.
@Suite(.timeLimit(.minutes(20))) struct ObservabilityBridgeTests {
    private let metrics = TestMetrics()
    private let tracer = InMemoryTracer()
    private let log = InMemoryLogHandler()

    private func client(_ transport: StubTransport) throws -> NetworkClient {
        let url = try #require(URL(string: "https://api.example.com/v1"))
        let tracing = TracingBridge(tracer: tracer)
        return NetworkClient(
            baseURL: url, transport: transport,
            interceptors: [RetryPolicy(attempts: 2, baseDelay: .zero), tracing],
            observers: [
                tracing, LogBridge(Logger(label: "network") { [log] _ in log }), MetricsBridge(factory: metrics),
            ])
    }

    private func send(_ stubs: Stub...) async throws {
        let call = Endpoint.request(.get, "articles", query: ["access_token": "a-secret-of-the-user"])
        _ = try await client(StubTransport(stubs)).send(call)
    }

    @Test func `repeated attempts and the ends of calls are lines of the log without a secret`() async throws {
        try await send(.get("articles") ~> .status(503), .get("articles") ~> .status(200))
        #expect(log.entries.map { "\($0.level): \($0.message)" } == ["warning: call retrying", "info: call succeeded"])
        let last = try #require(log.entries.last)
        #expect(["method", "status", "attempt"].map { last.metadata[$0] } == ["GET", "200", "2"])
        #expect(log.entries.first?.metadata["call"] == last.metadata["call"])
        #expect(!"\(log.entries)".contains("a-secret-of-the-user"))
    }

    @Test func `calls, retries and phases are counted and timed`() async throws {
        try await send(.get("articles") ~> .status(503), .get("articles") ~> .status(200))
        await #expect(throws: NetworkError.self) { try await send(.get("articles") ~> .status(404)) }
        let done = [("method", "GET"), ("outcome", "succeeded")]
        #expect(try metrics.expectCounter("http_client_calls", done).totalValue == 1)
        let failed = [("method", "GET"), ("outcome", "unacceptableStatus")]
        #expect(try metrics.expectCounter("http_client_calls", failed).totalValue == 1)
        let retries = [("method", "GET"), ("code", "unacceptableStatus")]
        #expect(try metrics.expectCounter("http_client_retries", retries).totalValue == 1)
        #expect(try metrics.expectTimer("http_client_call_duration", done).values.count == 1)
        #expect(try metrics.expectTimer("http_client_phase_duration", [("phase", "first_byte")]).values.count == 3)
        let dimensions = metrics.counters.flatMap(\.dimensions).map(\.1)
        #expect(Set(dimensions) == ["GET", "succeeded", "unacceptableStatus"])
    }

    @Test func `each attempt is a span of the task's trace, whose context the server gets`() async throws {
        let transport = StubTransport(.get("articles") ~> .status(503), .get("articles") ~> .status(200))
        let client = try client(transport)
        try await tracer.withSpan("screen") { _ in _ = try await client.send(.request(.get, "articles")) }
        let spans = tracer.finishedSpans
        #expect(spans.map(\.operationName) == ["GET", "GET", "screen"])
        let screen = try #require(spans.last)
        for (span, request) in zip(spans, transport.requests) {
            #expect(span.traceID == screen.traceID)
            #expect(span.parentSpanID == screen.spanID)
            #expect(request.headers[InMemoryTracer.traceIDKey] == span.traceID)
            #expect(request.headers[InMemoryTracer.spanIDKey] == span.spanID)
        }
        #expect(spans.map(\.status?.code) == [.error, nil, nil])
        #expect(spans[1].attributes["http.request.resend_count"]?.toSpanAttribute() == .int64(1))
        #expect(spans[1].attributes["http.response.status_code"]?.toSpanAttribute() == .int64(200))
        #expect(tracer.activeSpans.isEmpty)
    }

    @Test func `without a tracer each attempt is a span of the call's trace, or of the task's`() async throws {
        let transport = StubTransport(Stub(.any, .status(503)), Stub(.any, .status(200)).repeated())
        let url = try #require(URL(string: "https://api.example.com/v1"))
        let client = NetworkClient(
            baseURL: url, transport: transport,
            interceptors: [RetryPolicy(attempts: 2, baseDelay: .zero), TraceInterceptor()])
        _ = try await client.send(.request(.get, "articles"))
        let trace = "0af7651916cd43dd8448eb211c80319c"
        try await TraceInterceptor.$traceID.withValue(trace) { _ = try await client.send(.request(.get, "articles")) }
        let fields = transport.requests.compactMap {
            $0.headers["traceparent"]?.wholeMatch(of: /00-([0-9a-f]{32})-([0-9a-f]{16})-00/)
        }
        #expect(fields.count == 3 && Set(fields.map(\.2)).count == 3)
        #expect(fields[0].1 == fields[1].1 && fields[0].1 != fields[2].1)
        #expect(fields[2].1 == trace)
    }

    @Test func `a call that is cancelled or fails before it is sent leaves no span open`() async throws {
        let task = Task { try await send(Stub(.any, .status(200)).repeated()) }
        task.cancel()
        _ = try? await task.value
        let insecure = try #require(URL(string: "http://api.example.com/articles"))
        let client = try client(StubTransport())
        await #expect(throws: NetworkError.self) { _ = try await client.send(.request(.get, .url(insecure))) }
        #expect(tracer.activeSpans.isEmpty)
        #expect(tracer.finishedSpans.allSatisfy { $0.operationName == "GET" })
    }
}
