import Foundation
public import NetworkCore

/// Sends `traceparent` (W3C Trace Context) where there is no tracer. Each attempt is a span of its own, in the trace of
/// the task, or in a new one, whose identifier is that of the call in events.
public struct TraceInterceptor: RequestInterceptor {
    /// The trace of the current task, as 32 hexadecimal digits: those after `00-` in the field of a request that a
    /// server received.
    @TaskLocal public static var traceID: String?

    /// Creates an interceptor.
    public init() {}

    /// Adds the field, unless the endpoint has set it.
    public func adapt(_ request: HTTPRequestHead, context: RequestContext) throws -> HTTPRequestHead {
        guard request.headers["traceparent"] == nil else { return request }
        let traceID = Self.traceID ?? context.id.uuidString.replacing("-", with: "").lowercased()
        let spanID = String(format: "%016llx", UInt64.random(in: 1...UInt64.max))
        return try request.setting("traceparent", to: "00-\(traceID)-\(spanID)-00")
    }
}
