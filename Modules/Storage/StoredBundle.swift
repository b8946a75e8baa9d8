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
    let signedInAt: TimeInterval?
    let ordinal: SessionOrdinal?
    let binding: TokenBinding?
    let subject: TokenSubject?
    let scope: String?

    /// The stored fields of an intent.
    struct Intent: Codable {
        let idempotencyKey: String
        let host: String
        let process: String
        let date: TimeInterval
        let firstDate: TimeInterval?
        let isAbandoned: Bool
        let lease: String?
        let failure: Failure?

        init(_ intent: RefreshIntent) {
            idempotencyKey = intent.idempotencyKey
            host = intent.owner.host
            process = intent.owner.process
            date = intent.date.timeIntervalSinceReferenceDate
            firstDate = intent.firstDate?.timeIntervalSinceReferenceDate
            isAbandoned = intent.isAbandoned
            lease = intent.lease
            failure = intent.failure.map(Failure.init)
        }

        var intent: RefreshIntent {
            RefreshIntent(
                idempotencyKey: idempotencyKey,
                owner: ProcessIdentity(host: host, process: process),
                date: Date(timeIntervalSinceReferenceDate: date),
                firstDate: firstDate.map(Date.init(timeIntervalSinceReferenceDate:)),
                isAbandoned: isAbandoned,
                lease: lease,
                failure: failure?.failure
            )
        }
    }

    /// The stored fields of a failure. Each bit of the pause survives: a write compares what it replaces.
    struct Failure: Codable {
        let date: TimeInterval
        let pause: Duration
        let isAmbiguous: Bool
        let status: Int?
        let serverCode: String?
        let statusMeansExpired: Bool?
        let firstDate: TimeInterval?
        let count: Int?
        let stepUp: StepUpChallenge?

        init(_ failure: RefreshIntent.Failure) {
            date = failure.date.timeIntervalSinceReferenceDate
            pause = failure.pause
            isAmbiguous = failure.isAmbiguous
            status = failure.status
            serverCode = failure.serverCode
            statusMeansExpired = failure.statusMeansExpired
            firstDate = failure.firstDate?.timeIntervalSinceReferenceDate
            count = failure.count
            stepUp = failure.stepUp
        }

        var failure: RefreshIntent.Failure {
            var failure = RefreshIntent.Failure(
                date: Date(timeIntervalSinceReferenceDate: date),
                pause: pause,
                isAmbiguous: isAmbiguous,
                status: status,
                serverCode: serverCode
            )
            failure.firstDate = firstDate.map(Date.init(timeIntervalSinceReferenceDate:))
            failure.statusMeansExpired = statusMeansExpired
            failure.count = count ?? 1
            failure.stepUp = stepUp
            return failure
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
            ordinal: ordinal
        )
    }
}
