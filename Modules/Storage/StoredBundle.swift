import AuthInterface
import Foundation

/// The stored fields of a bundle, so that renaming a property of `TokenBundle` does not change a file. A binding, a
/// subject and a failure code themselves: each bit of a pause survives, as a write compares what it replaces.
struct StoredBundle: Codable {
    let accessToken: String
    let refreshToken: String?
    let expiresAt: TimeInterval?
    let clockSkew: TimeInterval
    let session: String
    let generation: Int
    let receivedAt: TimeInterval?
    let pendingRefresh: Intent?
    let signedInAt: TimeInterval?
    let ordinal: SessionOrdinal?
    let binding: TokenBinding?
    let subject: TokenSubject?
    let scope: String?

    struct Intent: Codable {
        let idempotencyKey: String
        let host: String
        let process: String
        let date: TimeInterval
        let firstDate: TimeInterval?
        let longestCall: Duration?
        let isAbandoned: Bool
        let lease: String?
        let failure: RefreshIntent.Failure?

        init(_ intent: RefreshIntent) {
            idempotencyKey = intent.idempotencyKey
            host = intent.owner.host
            process = intent.owner.process
            date = intent.date.timeIntervalSinceReferenceDate
            firstDate = intent.firstDate?.timeIntervalSinceReferenceDate
            longestCall = intent.longestCall
            isAbandoned = intent.isAbandoned
            lease = intent.lease
            failure = intent.failure
        }

        var intent: RefreshIntent {
            RefreshIntent(
                idempotencyKey: idempotencyKey,
                owner: ProcessIdentity(host: host, process: process),
                date: Date(timeIntervalSinceReferenceDate: date),
                firstDate: firstDate.map(Date.init(timeIntervalSinceReferenceDate:)),
                longestCall: longestCall,
                isAbandoned: isAbandoned,
                lease: lease,
                failure: failure)
        }
    }

    init(_ bundle: TokenBundle) {
        accessToken = bundle.accessToken
        refreshToken = bundle.refreshToken
        expiresAt = bundle.expiresAt?.timeIntervalSinceReferenceDate
        clockSkew = bundle.clockSkew
        session = bundle.session.rawValue
        generation = bundle.generation
        receivedAt = bundle.receivedAt?.timeIntervalSinceReferenceDate
        pendingRefresh = bundle.refreshIntent.map(Intent.init)
        signedInAt = bundle.signedInAt?.timeIntervalSinceReferenceDate
        ordinal = bundle.storedOrdinal
        binding = bundle.binding
        subject = bundle.subject
        scope = bundle.scope
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
            refreshIntent: pendingRefresh?.intent,
            signedInAt: signedInAt.map(Date.init(timeIntervalSinceReferenceDate:)),
            binding: binding,
            subject: subject.flatMap { TokenSubject(issuer: $0.issuer, id: $0.id) },
            scope: scope,
            ordinal: ordinal)
    }
}
