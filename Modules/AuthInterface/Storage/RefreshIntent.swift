public import Foundation

/// A refresh that is about to be made, stored before the call that spends the refresh token (G12, G27).
///
/// If a process finds an intent, the refresh token may have been spent already. The process repeats the call with the
/// same idempotency key; a server that honours the key returns its first result again.
public struct RefreshIntent: Sendable, Hashable, Codable {
    /// The key that every call with this refresh token carries until a response has been applied. It is a secret: a
    /// server returns the tokens for it.
    package var idempotencyKey: String

    /// The engine that makes the call: its process, and a number.
    public package(set) var owner: ProcessIdentity

    /// When the intent was recorded, on the clock of the device.
    public let date: Date

    /// When the first call with this key was recorded, on the clock of the device. `nil`: this intent is its record.
    ///
    /// The response to a later one may be that of the first, with a token of that age.
    package var firstDate: Date?

    /// How long after ``date`` the owner may wait for the response: its own limit (rule 4 of the protocol). `nil`: an
    /// earlier version has recorded it.
    package var longestCall: Duration?

    /// Whether the owner abandoned the call while it may still be under way (the owner was suspended, or the call
    /// passed its last limit).
    package var isAbandoned: Bool

    /// The lease under which the call is made, as its store names it: the locked file, or the number of a claim. `nil`
    /// where the store has no name for it.
    ///
    /// Only the release of this very lease proves that the owner's call has ended.
    public var lease: String?

    /// How the call failed with a whole response. `nil` while no response is known.
    ///
    /// Such a call is neither under way nor lost. Every process waits for the end of the pause, and may then call with
    /// the same key.
    package var failure: Failure?

    /// A failure that every process observes, and the pause after it (G6).
    package struct Failure: Sendable, Hashable, Codable {
        /// When the pause started, on the clock of the device.
        package var date: Date

        /// How long the pause lasts.
        package var pause: Duration

        /// Whether the response was a refusal that ends the session only when it is repeated (G4).
        package var isAmbiguous: Bool

        /// The HTTP status of the response. `nil`: not known.
        package var status: Int?

        /// The server's own error code.
        package var serverCode: String?

        /// Whether the status alone says that a token is not accepted. `nil`: 401 does.
        package var statusMeansExpired: Bool?

        /// When the first of several equal ambiguous refusals came. `nil`: with this one.
        package var firstDate: Date?

        /// How many equal ambiguous refusals, or demands that the user acts, there have been. `nil`: one.
        package var count: Int?

        /// What the server demands of the user (G32): a process that finds it shows it without a call. `nil`: nothing.
        package var stepUp: StepUpChallenge?

        package init(
            date: Date, pause: Duration, isAmbiguous: Bool = false, status: Int? = nil, serverCode: String? = nil
        ) {
            self.date = date
            self.pause = pause
            self.isAmbiguous = isAmbiguous
            self.status = status
            self.serverCode = serverCode
        }
    }

    package init(
        idempotencyKey: String,
        owner: ProcessIdentity,
        date: Date,
        firstDate: Date? = nil,
        longestCall: Duration? = nil,
        isAbandoned: Bool = false,
        lease: String? = nil,
        failure: Failure? = nil
    ) {
        self.idempotencyKey = idempotencyKey
        self.owner = owner
        self.date = date
        self.firstDate = firstDate
        self.longestCall = longestCall
        self.isAbandoned = isAbandoned
        self.lease = lease
        self.failure = failure
    }

    package var abandoned: RefreshIntent {
        var intent = self
        intent.isAbandoned = true
        return intent
    }
}

extension RefreshIntent: RedactedDescription {
    /// The owner, the date and what is known of the call; never the key.
    public var description: String {
        let failed = failure.map { ", failed: \($0.date.shown), pause: \($0.pause)" } ?? ""
        return "RefreshIntent(owner: \(owner), date: \(date.shown), isAbandoned: \(isAbandoned)\(failed))"
    }
}
