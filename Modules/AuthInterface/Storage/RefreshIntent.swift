public import Foundation

/// A refresh that is about to be made, stored before the call that spends the refresh token (G12, G27).
///
/// If a process finds an intent, the refresh token may have been spent already. The process repeats the call with the
/// same idempotency key; a server that honours the key returns its first result again.
public struct RefreshIntent: Sendable, Hashable, Codable {
    /// The key that every call with this refresh token carries until a response has been applied. It is a secret: a
    /// server returns the tokens for it.
    public let idempotencyKey: String

    /// The process that makes the call.
    public let owner: ProcessIdentity

    /// When the intent was recorded, on the clock of the device.
    public let date: Date

    /// Whether the owner abandoned the call while it may still be under way (the owner was suspended, or the call
    /// passed its last limit).
    public let isAbandoned: Bool

    /// Creates an intent.
    ///
    /// - Parameters:
    ///   - idempotencyKey: The key of the call.
    ///   - owner: The process that makes the call.
    ///   - date: When the intent is recorded.
    ///   - isAbandoned: Whether the owner abandoned the call while it may still be under way.
    public init(idempotencyKey: String, owner: ProcessIdentity, date: Date, isAbandoned: Bool = false) {
        self.idempotencyKey = idempotencyKey
        self.owner = owner
        self.date = date
        self.isAbandoned = isAbandoned
    }

    /// The same intent, marked as abandoned.
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

/// One process on one host. Earlier and later processes with the same number have another identity.
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
