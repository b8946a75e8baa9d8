import AuthInterface
import Foundation

/// The stored fields of a bundle, so that renaming a property of `TokenBundle` does not change a file.
struct StoredBundle: Codable {
    let accessToken: String
    let refreshToken: String?
    let expiresAt: TimeInterval?
    let clockSkew: TimeInterval
    let session: String
    let generation: Int
    let receivedAt: TimeInterval?
    let pendingRefresh: Intent?

    /// The stored fields of an intent.
    struct Intent: Codable {
        let idempotencyKey: String
        let host: String
        let process: String
        let date: TimeInterval
        let isAbandoned: Bool
    }

    init(_ bundle: TokenBundle) {
        accessToken = bundle.accessToken
        refreshToken = bundle.refreshToken
        expiresAt = bundle.expiresAt?.timeIntervalSinceReferenceDate
        clockSkew = bundle.clockSkew
        session = bundle.session.rawValue
        generation = bundle.generation
        receivedAt = bundle.receivedAt?.timeIntervalSinceReferenceDate
        pendingRefresh = bundle.refreshIntent.map { intent in
            Intent(
                idempotencyKey: intent.idempotencyKey,
                host: intent.owner.host,
                process: intent.owner.process,
                date: intent.date.timeIntervalSinceReferenceDate,
                isAbandoned: intent.isAbandoned
            )
        }
    }

    var bundle: TokenBundle {
        TokenBundle(
            accessToken: accessToken,
            refreshToken: refreshToken,
            expiresAt: expiresAt.map(Date.init(timeIntervalSinceReferenceDate:)),
            clockSkew: clockSkew,
            session: SessionID(rawValue: session),
            generation: generation,
            receivedAt: receivedAt.map(Date.init(timeIntervalSinceReferenceDate:)),
            refreshIntent: pendingRefresh.map { intent in
                RefreshIntent(
                    idempotencyKey: intent.idempotencyKey,
                    owner: ProcessIdentity(host: intent.host, process: intent.process),
                    date: Date(timeIntervalSinceReferenceDate: intent.date),
                    isAbandoned: intent.isAbandoned
                )
            }
        )
    }
}
