import ConcurrencyPrimitives
public import Foundation

/// The record of a refresh that is about to be made, stored before the call that spends the refresh token (G12, G27).
///
/// If a process finds an intent, the refresh token may have been spent already. The process repeats the call with the
/// same idempotency key; a server that honours the key returns its first result again.
public struct RefreshIntent: Sendable, Hashable, Codable {
    /// The key that every call with this refresh token carries until a response has been applied. It is a secret: a
    /// server returns the tokens for it.
    public let idempotencyKey: String

    /// The engine that makes the call: its process, and a number.
    public let owner: ProcessIdentity

    /// When the record was made, on the clock of the device.
    public let date: Date

    /// Whether the owner abandoned the call while it may still be under way (the owner was suspended, or the call
    /// passed its last limit).
    public let isAbandoned: Bool

    /// Creates a record.
    ///
    /// - Parameters:
    ///   - idempotencyKey: The key of the call.
    ///   - owner: The engine that makes the call.
    ///   - date: When the record is made.
    ///   - isAbandoned: Whether the owner abandoned the call while it may still be under way.
    public init(idempotencyKey: String, owner: ProcessIdentity, date: Date, isAbandoned: Bool = false) {
        self.idempotencyKey = idempotencyKey
        self.owner = owner
        self.date = date
        self.isAbandoned = isAbandoned
    }

    /// The same record, marked as abandoned.
    package var abandoned: RefreshIntent {
        RefreshIntent(idempotencyKey: idempotencyKey, owner: owner, date: date, isAbandoned: true)
    }
}

extension RefreshIntent: RedactedDescription {
    /// The owner and the date; never the key.
    public var description: String {
        "RefreshIntent(owner: \(owner), date: \(date.formatted(.iso8601)), isAbandoned: \(isAbandoned))"
    }
}

/// One process on one host, or one engine in it. Earlier and later processes with the same number have another
/// identity.
public struct ProcessIdentity: Sendable, Hashable, Codable {
    /// The running system. It changes when the host restarts.
    public let host: String

    /// The process on it.
    public let process: String

    /// Creates an identity.
    ///
    /// - Parameters:
    ///   - host: The running system.
    ///   - process: The process on it.
    public init(host: String, process: String) {
        self.host = host
        self.process = process
    }

    /// This process.
    public static let current = ProcessIdentity(
        host: currentHost,
        process: "\(ProcessInfo.processInfo.processIdentifier)-\(UUID().uuidString.prefix(8))"
    )

    private static let engines = Locked(0)

    /// Another engine of this process. A process may have several over one store, and the call of each may be under way
    /// when another one holds the lease.
    package static func newEngine() -> ProcessIdentity {
        let number = engines.withLock { count in
            count += 1
            return count
        }
        return ProcessIdentity(host: current.host, process: "\(current.process).\(number)")
    }

    /// Whether an identity is this process, or an engine in it. A store that records which processes have claimed its
    /// lease finds the owner of an intent by it.
    ///
    /// - Parameter other: The identity.
    /// - Returns: Whether it is part of this one.
    public func includes(_ other: ProcessIdentity) -> Bool {
        host == other.host && (process == other.process || other.process.hasPrefix(process + "."))
    }

    /// Names the running kernel: it alone releases the locks of its processes.
    private static var currentHost: String {
        #if canImport(Darwin)
        var size = 0
        sysctlbyname("kern.bootsessionuuid", nil, &size, nil, 0)
        var bytes = [UInt8](repeating: 0, count: max(size, 1))
        if sysctlbyname("kern.bootsessionuuid", &bytes, &size, nil, 0) == 0 {
            return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        #else
        if let id = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8) {
            return id.trimmingCharacters(in: .whitespacesAndNewlines)
        }
        #endif
        return ProcessInfo.processInfo.hostName
    }
}

extension ProcessIdentity: CustomStringConvertible {
    /// The process, as a log shows it.
    public var description: String { process }
}
