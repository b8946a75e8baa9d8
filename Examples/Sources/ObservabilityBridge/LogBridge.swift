import Foundation
public import Logging
public import NetworkCore

/// Writes the calls of a client to swift-log: one line for each call that ends and each attempt that is repeated.
///
/// The message is always the same for the same event. What differs is metadata: the call's id, method, URL, attempt,
/// status, code and timings. No event has a secret, so no line has one.
public struct LogBridge: NetworkObserver {
    private let logger: Logger

    /// The logger's level decides which lines are written: `error` for a call that failed, `warning` for one that is
    /// repeated, `info` for other ends, `debug` for steps.
    public init(_ logger: Logger) { self.logger = logger }

    /// Receives one event.
    public func receive(_ event: NetworkEvent) {
        let level = event.kind.name.level
        guard logger.logLevel <= level else { return }
        logger.log(level: level, "call \(event.kind.name.rawValue)", metadata: event.metadata)
    }
}

extension NetworkEvent.Kind.Name {
    fileprivate var level: Logger.Level {
        switch self {
        case .failed: .error
        case .retrying: .warning
        case .succeeded, .cancelled: .info
        default: .debug
        }
    }
}

extension NetworkEvent {
    fileprivate var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = [
            "call": "\(id.uuidString.lowercased())", "method": "\(request.method)", "url": "\(request.url)",
            "attempt": "\(attempt)",
        ]
        if let status = kind.status { metadata["status"] = "\(status)" }
        if let code = kind.code { metadata["code"] = "\(code)" }
        if let pause = kind.pause { metadata["pause"] = "\(pause)" }
        if let bytes = kind.bytes { metadata["bytes"] = "\(bytes)" }
        if let timings, !timings.description.isEmpty { metadata["timings"] = "\(timings)" }
        for (name, value) in tags { metadata["tag.\(name)"] = "\(value)" }
        return metadata
    }
}
