import Foundation
public import NetworkCore

/// The trace that a request is part of, as the `traceparent` field names it (W3C Trace Context).
public struct TraceContext: Sendable, Hashable {
    /// The trace of the current task. Requests that it sends with a ``TraceInterceptor`` are part of it.
    @TaskLocal public static var current: TraceContext?

    /// The trace: 32 hexadecimal digits.
    public let traceID: String

    /// The span: 16 hexadecimal digits.
    public let spanID: String

    /// Reads the field of a request that a server received.
    public init?(traceparent: String) {
        guard let found = traceparent.wholeMatch(of: /00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}/) else { return nil }
        self.init(traceID: String(found.1), spanID: String(found.2))
    }

    fileprivate init(traceID: String, spanID: String = TraceContext.randomSpan()) {
        (self.traceID, self.spanID) = (traceID, spanID)
    }

    private static func randomSpan() -> String { String(format: "%016llx", UInt64.random(in: 1...UInt64.max)) }
}

/// Sends `traceparent` where there is no tracer: the trace of the task (``TraceContext/current``), or a new one, whose
/// identifier is that of the call in events. Each attempt is a span of its own.
public struct TraceInterceptor: RequestInterceptor {
    /// Creates an interceptor.
    public init() {}

    /// Adds the field, unless the endpoint has set it.
    public func adapt(_ request: HTTPRequestHead, context: RequestContext) throws -> HTTPRequestHead {
        guard request.headers["traceparent"] == nil else { return request }
        let call = context.id.uuidString.replacing("-", with: "").lowercased()
        let trace = TraceContext(traceID: TraceContext.current?.traceID ?? call)
        var request = request
        try request.set("traceparent", to: "00-\(trace.traceID)-\(trace.spanID)-00")
        return request
    }
}
