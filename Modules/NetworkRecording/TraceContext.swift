import Foundation
public import NetworkCore

/// The trace that a request is part of, as the `traceparent` field names it (W3C Trace Context).
public struct TraceContext: Sendable, Hashable {
    /// The trace of the current task. Requests that it sends with a ``TraceInterceptor`` are part of it.
    @TaskLocal public static var current: TraceContext?

    /// The trace: 32 hexadecimal digits, not all zero.
    public let traceID: String

    /// The span: 16 hexadecimal digits, not all zero.
    public let spanID: String

    /// Whether the trace is recorded.
    public let isSampled: Bool

    /// What vendors added (`tracestate`).
    public let state: String?

    /// Reads fields of a request that a server received. Fails for a `traceparent` that is invalid.
    ///
    /// - Parameters:
    ///   - traceparent: The value of `traceparent`.
    ///   - tracestate: The value of `tracestate`. It is passed on as it is.
    public init?(traceparent: String, tracestate: String? = nil) {
        let parts = traceparent.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        // A later version may have more parts.
        guard parts.count >= 4, parts[0] != "ff", parts[0] != "00" || parts.count == 4, parts[0].isHexadecimal(2),
            parts[1].isHexadecimal(32), parts[2].isHexadecimal(16), parts[3].isHexadecimal(2),
            let flags = UInt8(parts[3], radix: 16), parts[1].contains(where: { $0 != "0" }),
            parts[2].contains(where: { $0 != "0" })
        else { return nil }
        self.init(traceID: parts[1], spanID: parts[2], isSampled: flags & 1 == 1, state: tracestate)
    }

    private init(traceID: String, spanID: String, isSampled: Bool, state: String?) {
        self.traceID = traceID
        self.spanID = spanID
        self.isSampled = isSampled
        self.state = state
    }

    /// A trace that begins with a call: its identifier in events is that of the trace.
    init(of call: UUID, isSampled: Bool) {
        let digits = call.uuidString.replacing("-", with: "").lowercased()
        self.init(traceID: digits, spanID: Self.makeSpanID(), isSampled: isSampled, state: nil)
    }

    /// A span of the same trace with an identifier of its own.
    func child() -> TraceContext {
        TraceContext(traceID: traceID, spanID: Self.makeSpanID(), isSampled: isSampled, state: state)
    }

    /// The value of `traceparent`.
    public var traceparent: String { "00-\(traceID)-\(spanID)-\(isSampled ? "01" : "00")" }

    private static func makeSpanID() -> String {
        let digits = String(UInt64.random(in: 1...UInt64.max), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

/// Names each request for the server's logs: `traceparent`, and the identifier of the call in a field.
///
/// ```swift
/// let client = NetworkClient(baseURL: url, transport: transport, interceptors: [TraceInterceptor()])
/// ```
///
/// The trace is that of the task (``TraceContext/current``), or else begins with the call. Each attempt is a span of
/// its own. A `traceparent` that the endpoint has set stays.
public struct TraceInterceptor: RequestInterceptor {
    private let requestIDField: String?
    private let isSampled: Bool

    /// Creates an interceptor.
    ///
    /// - Parameters:
    ///   - requestIDField: The field for the identifier of the call in events: `X-Request-ID`. `nil`: it is not sent.
    ///   - isSampled: Whether a trace that begins with a call is recorded.
    public init(requestIDField: String? = "X-Request-ID", isSampled: Bool = false) {
        self.requestIDField = requestIDField
        self.isSampled = isSampled
    }

    /// Adds the fields.
    ///
    /// - Throws: `HTTPFieldError` when the name of the field is invalid.
    public func adapt(_ request: HTTPRequestHead, context: RequestContext) async throws -> HTTPRequestHead {
        var request = request
        if let requestIDField, request.headers[requestIDField] == nil {
            try request.set(requestIDField, to: context.id.uuidString.lowercased())
        }
        guard request.headers["traceparent"] == nil else { return request }
        let trace = TraceContext.current?.child() ?? TraceContext(of: context.id, isSampled: isSampled)
        try request.set("traceparent", to: trace.traceparent)
        if let state = trace.state { try request.set("tracestate", to: state) }
        return request
    }
}

extension String {
    fileprivate func isHexadecimal(_ count: Int) -> Bool {
        utf8.count == count
            && utf8.allSatisfy { ("0"..."9").contains(Unicode.Scalar($0)) || ("a"..."f").contains(Unicode.Scalar($0)) }
    }
}
