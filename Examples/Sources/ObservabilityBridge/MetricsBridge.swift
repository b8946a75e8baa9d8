public import CoreMetrics
import Foundation
import Metrics
public import NetworkCore

/// Counts and times the calls of a client with swift-metrics.
///
/// | metric | kind | dimensions |
/// |---|---|---|
/// | `http_client_calls` | counter | method, outcome: `succeeded`, `cancelled`, or the code of the error |
/// | `http_client_retries` | counter | method, code |
/// | `http_client_call_duration` | timer | method, outcome |
/// | `http_client_phase_duration` | timer | phase: `token`, `connection`, `first_byte`, `body` |
///
/// URLs and identifiers are no dimensions: each new value is a new series in the backend.
public final class MetricsBridge: NetworkObserver {
    private let factory: any MetricsFactory
    private let started = Guarded<[UUID: Duration]>([:])

    /// The default factory is the one that the program has bootstrapped.
    public init(factory: any MetricsFactory = MetricsSystem.factory) { self.factory = factory }

    /// Receives one event.
    public func receive(_ event: NetworkEvent) {
        switch event.kind.name {
        case .started: started.withLock { $0[event.id] = event.uptime }
        case .retrying:
            count("http_client_retries", [method(of: event), ("code", event.kind.code?.rawValue ?? "unknown")])
            recordPhases(of: event)
        case .succeeded, .cancelled, .failed:
            let outcome = event.kind.code?.rawValue ?? event.kind.name.rawValue
            let dimensions = [method(of: event), ("outcome", outcome)]
            count("http_client_calls", dimensions)
            recordPhases(of: event)
            guard let start = started.withLock({ $0.removeValue(forKey: event.id) }) else { return }
            record("http_client_call_duration", dimensions, event.uptime - start)
        default: return
        }
    }

    private func recordPhases(of event: NetworkEvent) {
        guard let timings = event.timings else { return }
        let phases = [
            ("token", timings.token), ("connection", timings.connection), ("first_byte", timings.firstByte),
            ("body", timings.body),
        ]
        for case (let phase, let duration?) in phases {
            record("http_client_phase_duration", [("phase", phase)], duration)
        }
    }

    private func method(of event: NetworkEvent) -> (String, String) { ("method", event.request.method.rawValue) }

    private func count(_ label: String, _ dimensions: [(String, String)]) {
        Counter(label: label, dimensions: dimensions, factory: factory).increment()
    }

    private func record(_ label: String, _ dimensions: [(String, String)], _ duration: Duration) {
        CoreMetrics.Timer(label: label, dimensions: dimensions, factory: factory).record(duration: duration)
    }
}

/// A value behind a lock.
final class Guarded<Value>: @unchecked Sendable {  // `value` is touched under `lock` only
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    func withLock<Result>(_ body: (inout Value) -> Result) -> Result { lock.withLock { body(&value) } }
}
