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
    let launches = Responder<Void, AutoLogin>()
    let users = Responder<Void, User>()
    let portraits = Responder<User, Data?>()
    let registrations = Responder<(name: String, photo: Data, progress: @Sendable (Double) -> Void), User>()
    let logins = Responder<SocialProvider, User>()
    let upgrades = Responder<SocialProvider, User>()
    let tokens = Responder<SocialProvider, String>()
    let photos = Responder<Data, Data>()
    let pages = Responder<Article.Cursor?, Page<Article>>()
    let reads = Responder<Article.ID, Article>()
    let creations = Responder<(draft: ArticleDraft, key: String), Article>()

    var services: ScreenServices {
        ScreenServices(
            session: session, account: self, logins: self, identity: self, photos: self, articles: self)
    }
}

/// The application, whose calls the test responds to.
@MainActor
final class RunningApp {
    let backend = Backend()
    let app: AppModel
    private var run: Task<Void, Never>?

    init() {
        app = AppModel(services: backend.services)
        backend.pages.standing = .success(.fixture(1...2))
        backend.tokens.standing = .success("fixture")
    }

    deinit { run?.cancel() }

    /// Runs the application, to the end of the test, and returns when it has launched.
    func launch(_ outcome: AutoLogin, state: SessionState) async {
        backend.session.set(state)
        backend.launches.standing = .success(outcome)
        run = Task { [app] in await app.run() }
        await until { app.splash == nil }
    }

    /// Launches the application with ada signed in, and returns its main screen.
    func start() async throws -> MainModel {
        await launch(.signedIn(.ada), state: .signedIn(.first))
        return try #require(app.main)
    }
}

extension Backend: AccountReading, SigningIn, IdentityTokenSource, PhotoPreparing {
    func launch() async throws -> AutoLogin { try await launches.call(()) }
    func me() async throws -> User { try await users.call(()) }
    func photo(of user: User) async throws -> Data? { try await portraits.call(user) }

    func registerGuest(
        name: String, photo: Data, progress: @escaping @Sendable (Double) -> Void
    ) async throws -> User? {
        try await registrations.call((name: name, photo: photo, progress: progress))
    }

    func signIn(_ provider: SocialProvider, token: String) async throws -> User? { try await logins.call(provider) }
    func upgrade(_ provider: SocialProvider, token: String) async throws -> User { try await upgrades.call(provider) }
    func token(for provider: SocialProvider) async throws -> String { try await tokens.call(provider) }
    func prepare(_ photo: Data) async throws -> Data { try await photos.call(photo) }
}

extension Backend: ArticleAccess {
    func page(after cursor: Article.Cursor?, limit: Int) async throws -> Page<Article> {
        try await pages.call(cursor)
    }

    func storedPage(of session: SessionID, limit: Int) async -> [Article] {
        await stored[session] ?? []
    }

    func article(_ id: Article.ID) async throws -> Article { try await reads.call(id) }

    func create(_ draft: ArticleDraft, key: String) async throws -> Article {
        try await creations.call((draft: draft, key: key))
    }
}

/// A session whose state the test sets.
final class ScriptedSession: SessionControl, @unchecked Sendable {  // What is mutable is under `lock`.
    private let lock = NSLock()
    private var current = SessionState.unknown
    private var listeners: [AsyncStream<SessionState>.Continuation] = []
    private var signOutFailure: ScreenError?
    private var signOuts = 0

    private var reader: AsyncStream<Void>.Continuation?

    var state: SessionState {
        lock.withLock {
            reader?.yield()
            return current
        }
    }

    /// Changes the state, and waits until it was read.
    func setAndAwaitRead(_ state: SessionState) async {
        let (reads, read) = AsyncStream.makeStream(of: Void.self)
        lock.withLock { reader = read }
        set(state)
        for await _ in reads { return }
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
    while !Task.isCancelled {
        let (changes, change) = AsyncStream.makeStream(of: Void.self)
        let isMet = withObservationTracking {
            condition()
        } onChange: {
            change.yield()
        }
        if isMet { return }
        for await _ in changes { break }
    }
}
