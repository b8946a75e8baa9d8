import ArticlesUI
import AuthInterface
import DataAPI
import Foundation
import Observation
import Testing

/// The doubles of all that the screens need.
@MainActor
final class Backend {
    let session = ScriptedSession()
    /// The first pages that sessions have read before.
    var stored: [SessionID: [Article]] = [:]
    let launches = Responder<Void, LaunchOutcome>()
    let users = Responder<Void, User>()
    let portraits = Responder<User, Data?>()
    let registrations = Responder<Registration, User>()
    let logins = Responder<SocialProvider, User>()
    let upgrades = Responder<SocialProvider, User>()
    let tokens = Responder<SocialProvider, String>()
    let photos = Responder<Data, Data>()
    let pages = Responder<Article.Cursor?, Page<Article>>()
    let reads = Responder<Article.ID, Article>()
    let creations = Responder<Creation, Article>()

    struct Registration: Sendable {
        let name: String
        let photo: Data
        let progress: @Sendable (Double) -> Void
    }

    struct Creation: Sendable {
        let draft: ArticleDraft
        let key: String
    }

    var services: ScreenServices {
        ScreenServices(
            session: session, account: self, guests: self, social: self, upgrades: self, identity: self, photos: self,
            articles: self)
    }
}

/// The application with ada signed in, whose calls the test responds to.
@MainActor
final class SignedInApp {
    let backend = Backend()
    let app: AppModel
    private var run: Task<Void, Never>?

    init() {
        app = AppModel(services: backend.services)
        backend.pages.standing = .success(.fixture(1...2))
        backend.launches.standing = .success(.signedIn(.ada))
        backend.session.set(.signedIn(.first))
        backend.tokens.standing = .success("fixture")
    }

    deinit { run?.cancel() }

    /// Runs the application, to the end of the test, and returns when its main screen is shown.
    func start() async throws -> MainModel {
        run = Task { [app] in await app.run() }
        await until { app.main != nil }
        return try #require(app.main)
    }
}

extension Backend: AccountReading, GuestRegistration, SocialLogin, GuestUpgrade, IdentityTokenSource, PhotoPreparing {
    func launch() async throws -> LaunchOutcome { try await launches.call(()) }
    func me() async throws -> User { try await users.call(()) }
    func photo(of user: User) async throws -> Data? { try await portraits.call(user) }

    func registerGuest(
        name: String, photo: Data, progress: @escaping @Sendable (Double) -> Void
    ) async throws -> User? {
        try await registrations.call(Registration(name: name, photo: photo, progress: progress))
    }

    func signIn(_ provider: SocialProvider, token: String) async throws -> User? { try await logins.call(provider) }
    func upgrade(_ provider: SocialProvider, token: String) async throws -> User { try await upgrades.call(provider) }
    func token(for provider: SocialProvider) async throws -> String { try await tokens.call(provider) }
    func prepare(_ photo: Data) async throws -> Data { try await photos.call(photo) }
}

extension Backend: ArticleReading, ArticleWriting {
    func page(after cursor: Article.Cursor?, limit: Int) async throws -> Page<Article> {
        try await pages.call(cursor)
    }

    func storedPage(of session: SessionID, limit: Int) async -> [Article] {
        await stored[session] ?? []
    }

    func article(_ id: Article.ID) async throws -> Article { try await reads.call(id) }

    func create(_ draft: ArticleDraft, key: String) async throws -> Article {
        try await creations.call(Creation(draft: draft, key: key))
    }
}

/// A session whose state the test sets.
final class ScriptedSession: SessionControl, @unchecked Sendable {  // What is mutable is under `lock`.
    private let lock = NSLock()
    private var current = SessionState.unknown
    private var listeners: [AsyncStream<SessionState>.Continuation] = []
    private var signOutFailure: ScreenError?
    private var signOuts = 0

    private var readers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    private var reads = 0

    var state: SessionState {
        let (state, reached) = lock.withLock {
            reads += 1
            let reached = readers.filter { $0.count <= reads }
            readers.removeAll { $0.count <= reads }
            return (current, reached)
        }
        for reader in reached { reader.continuation.resume() }
        return state
    }

    /// How often the state was read.
    var readCount: Int { lock.withLock { reads } }

    /// Waits until the state was read a number of times.
    func reads(atLeast count: Int) async {
        await withCheckedContinuation { continuation in
            let isReached = lock.withLock {
                if reads < count { readers.append((count, continuation)) }
                return reads >= count
            }
            if isReached { continuation.resume() }
        }
    }

    var signOutCount: Int { lock.withLock { signOuts } }

    var states: AsyncStream<SessionState> {
        let (stream, continuation) = AsyncStream.makeStream(of: SessionState.self)
        lock.withLock {
            listeners.append(continuation)
            continuation.yield(current)
        }
        return stream
    }

    func set(_ state: SessionState) {
        lock.withLock {
            current = state
            for listener in listeners { listener.yield(state) }
        }
    }

    /// Changes the state without a word in the streams: they are late.
    func setSilently(_ state: SessionState) {
        lock.withLock { current = state }
    }

    func failSignOut(with error: ScreenError) {
        lock.withLock { signOutFailure = error }
    }

    func signOut() async throws {
        let failure = lock.withLock {
            signOuts += 1
            return signOutFailure
        }
        set(.signedOut(.byUser))
        if let failure { throw failure }
    }
}

extension Article {
    static func fixture(_ number: Int, title: String? = nil) -> Article {
        Article(
            id: .fixture(number), title: title ?? "Article \(number)", content: "Text",
            author: Author(id: User.ada.id, name: "Ada"), createdAt: Date(timeIntervalSince1970: Double(number)))
    }
}

extension Identifier {
    static func fixture(_ number: Int) -> Self { Self(integerLiteral: Int64(number)) }
}

extension User {
    static let ada = User(id: .fixture(1), name: "Ada")
    static let grace = User(id: .fixture(2), name: "Grace")
}

extension SessionID {
    static let first = SessionID(rawValue: "first")
    static let second = SessionID(rawValue: "second")
}

extension ScreenError {
    static let offline = ScreenError("connectionFailed")
    static let ended = ScreenError("sessionEnded")
}

extension Page<Article> {
    static func fixture(_ numbers: ClosedRange<Int>, next: String? = nil) -> Page {
        Page(items: numbers.map { .fixture($0) }, nextCursor: next.map(Cursor.init(rawValue:)))
    }
}

/// Waits until a condition on observed values holds. It looks again after each change of a value that it has read.
@MainActor
func until(_ condition: @MainActor () -> Bool) async {
    while true {
        let isMet = await withCheckedContinuation { continuation in
            let once = OneShot(continuation)
            let isMet = withObservationTracking {
                condition()
            } onChange: {
                once.resume(false)
            }
            if isMet { once.resume(true) }
        }
        if isMet { return }
    }
}

/// Resumes a continuation once.
private final class OneShot: @unchecked Sendable {  // `continuation` is under `lock`.
    private let lock = NSLock()
    private var continuation: CheckedContinuation<Bool, Never>?

    init(_ continuation: CheckedContinuation<Bool, Never>) {
        self.continuation = continuation
    }

    func resume(_ value: Bool) {
        lock.withLock {
            defer { continuation = nil }
            return continuation
        }?.resume(returning: value)
    }
}
