import ConcurrencyPrimitives
import Foundation
public import NetworkCore

#if canImport(os)
import os
#endif

/// Logs each call: to the unified log on Apple platforms, elsewhere to standard error. A line has no secret (G17).
///
/// ```
/// GET https://example.com/articles/7 → 200, 512 bytes, attempt 2 (token 3 ms, first byte 30 ms, body 8 ms) [5F0C82A1]
/// ```
public struct LoggingObserver: NetworkObserver {
    /// How important a line is.
    public enum Level: String, Sendable, Comparable {
        /// Each step of a call.
        case debug
        /// The end of a call that succeeded or was cancelled.
        case info
        /// An attempt or a call that failed.
        case error

        /// Compares importance.
        public static func < (first: Level, second: Level) -> Bool { first.rank < second.rank }

        private var rank: Int {
            switch self {
            case .debug: 0
            case .info: 1
            case .error: 2
            }
        }
    }

    private let minimumLevel: Level
    private let write: @Sendable (Level, String) -> Void

    /// Creates an observer of lines from a level on. The closure is called with each, on any thread.
    public init(minimumLevel: Level = .info, write: @escaping @Sendable (Level, String) -> Void) {
        self.minimumLevel = minimumLevel
        self.write = write
    }

    /// Creates an observer that writes to the unified log on Apple platforms, and elsewhere to standard error.
    ///
    /// - Parameters:
    ///   - minimumLevel: The least important lines that are logged.
    ///   - subsystem: The subsystem of the unified log, and the first word of a line elsewhere.
    public init(minimumLevel: Level = .info, subsystem: String = "latchkey") {
        #if canImport(os)
        let logger = Logger(subsystem: subsystem, category: "network")
        self.init(minimumLevel: minimumLevel) { level, line in
            switch level {
            case .debug: logger.debug("\(line, privacy: .public)")
            case .info: logger.info("\(line, privacy: .public)")
            case .error: logger.error("\(line, privacy: .public)")
            }
        }
        #else
        self.init(minimumLevel: minimumLevel) { level, line in
            try? FileHandle.standardError.write(contentsOf: Data("\(subsystem) \(level.rawValue): \(line)\n".utf8))
        }
        #endif
    }

    /// Logs an event.
    public func receive(_ event: NetworkEvent) {
        let level = Self.level(of: event.kind)
        guard level >= minimumLevel else { return }
        write(level, Self.line(of: event))
    }

    private static func level(of kind: NetworkEvent.Kind) -> Level {
        switch kind.name {
        case .failed, .retrying: .error
        case .succeeded, .cancelled: .info
        default: .debug
        }
    }

    /// The line of an event.
    static func line(of event: NetworkEvent) -> String {
        let kind = event.kind
        var words: [String] = []
        if let status = kind.status { words.append("\(status)") }
        if let code = kind.code, code != .unacceptableStatus { words.append(code.rawValue) }
        if words.isEmpty { words.append(kind.name.rawValue) }
        if let target = kind.target { words.append("to \(target)") }
        if let bytes = kind.bytes { words.append("\(bytes) bytes") }
        if let pause = kind.pause { words.append("again in \(pause.inWords)") }
        if event.attempt > 1 { words.append("attempt \(event.attempt)") }
        let timings = event.timings.map(\.description) ?? ""
        let phases = timings.isEmpty ? "" : " (\(timings))"
        return "\(event.request) → \(words.joined(separator: ", "))\(phases) [\(event.id.uuidString.prefix(8))]"
    }
}
