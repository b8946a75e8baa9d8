import Foundation
public import NetworkCore
public import Tracing

/// Makes a client span of swift-distributed-tracing for each attempt of a call, and sends its context to the server.
///
/// It is an interceptor and an observer. Give the same one to a client as both:
///
/// ```swift
/// let tracing = TracingBridge()
/// let client = NetworkClient(
///     baseURL: url, transport: transport, interceptors: [RetryPolicy(), tracing], observers: [tracing])
/// ```
///
/// As an interceptor it starts the span, a child of the task's `ServiceContext`, and has the tracer write its context
/// into the request. As an observer it ends the span with the attempt. Attributes are named as in OpenTelemetry's
/// conventions for HTTP clients.
public final class TracingBridge: RequestInterceptor, NetworkObserver {
    private let tracer: any Tracer
    private let spans = Guarded<[UUID: any Span]>([:])

    /// The default tracer is the one that the program has bootstrapped.
    public init(tracer: any Tracer = InstrumentationSystem.tracer) { self.tracer = tracer }

    /// Starts the span of an attempt, and adds its context to the request.
    public func adapt(_ request: HTTPRequestHead, context: RequestContext) -> HTTPRequestHead {
        let span: any Span = tracer.startSpan(request.method.rawValue, ofKind: .client)
        span.attributes["http.request.method"] = request.method.rawValue
        span.attributes["server.address"] = request.url.host
        span.attributes["server.port"] = request.url.port
        if context.attempt > 1 { span.attributes["http.request.resend_count"] = context.attempt - 1 }
        let replaced = spans.withLock { $0.updateValue(span, forKey: context.id) }
        replaced?.end()
        var request = request
        tracer.inject(span.context, into: &request, using: FieldInjector())
        return request
    }

    /// Receives one event.
    public func receive(_ event: NetworkEvent) {
        switch event.kind.name {
        // The event knows which parts of the URL are secrets.
        case .sent: spans.withLock { $0[event.id] }?.attributes["url.full"] = event.request.url
        case .responded: spans.withLock { $0[event.id] }?.attributes["http.response.status_code"] = event.kind.status
        case .succeeded, .cancelled: end(event, code: nil)
        case .retrying, .failed: end(event, code: event.kind.code)
        default: return
        }
    }

    private func end(_ event: NetworkEvent, code: NetworkError.Code?) {
        guard let span = spans.withLock({ $0.removeValue(forKey: event.id) }) else { return }
        if let code {
            span.attributes["error.type"] = event.kind.status.map(String.init) ?? code.rawValue
            span.setStatus(SpanStatus(code: .error, message: code.rawValue))
        }
        span.end()
    }
}

private struct FieldInjector: Injector {
    func inject(_ value: String, forKey key: String, into request: inout HTTPRequestHead) {
        // A field that no request can carry is left out: a trace must not cost the call.
        try? request.set(key, to: value)
    }
}
