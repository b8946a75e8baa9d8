public import Foundation

/// A refresh that is about to be made, stored before the call that spends the refresh token (G12, G27).
///
/// If a process finds an intent, the refresh token may have been spent already. The process repeats the call with the
/// same idempotency key; a server that honours the key returns its first result again.
public struct RefreshIntent: Sendable, Hashable, Codable {
    /// The key that every call with this refresh token carries until a response has been applied. It is a secret: a
    /// server returns the tokens for it.
    public let idempotencyKey: String

    /// The engine that makes the call: its process, and a number.
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
    ///   - owner: The engine that makes the call.
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
