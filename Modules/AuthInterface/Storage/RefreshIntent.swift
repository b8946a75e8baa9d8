public import Foundation

/// The record of a refresh that is about to be made, stored before the call that spends the refresh token (G12, G27).
///
/// A process that finds one knows that the refresh token may have been spent already, and repeats the call with the
/// same idempotency key, so that a server which honours the key returns its first result again.
public struct RefreshIntent: Sendable, Hashable, Codable {
    /// The key that every call with this refresh token carries until a response has been applied. It is a secret, as
    /// the result it stands for is one.
    public let idempotencyKey: String

    /// The process that makes the call.
    public let owner: ProcessIdentity

    /// When the call was about to be made, on the clock of the device.
    public let date: Date

    /// Whether the owner gave the call up while it may still be under way (it was suspended, or passed its last limit).
    public let isAbandoned: Bool

    /// Creates a record.
    ///
    /// - Parameters:
    ///   - idempotencyKey: The key of the call.
    ///   - owner: The process that makes the call.
    ///   - date: When the call is about to be made.
    ///   - isAbandoned: Whether the owner gave the call up while it may still be under way.
    public init(idempotencyKey: String, owner: ProcessIdentity, date: Date, isAbandoned: Bool = false) {
        self.idempotencyKey = idempotencyKey
        self.owner = owner
        self.date = date
        self.isAbandoned = isAbandoned
    }

    /// The same record, marked as given up.
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

/// One process on one host, told apart from every other, earlier and later ones with the same number included.
public struct ProcessIdentity: Sendable, Hashable, Codable {
    /// The running system: it changes when the host starts anew.
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

    /// Names the kernel that runs now: a lock file is released by that kernel, and by no other.
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
