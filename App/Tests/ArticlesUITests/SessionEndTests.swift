import AuthInterface
import DataAPI
import Foundation
import Testing

@testable import ArticlesUI

/// The end of a session while the user works, and what the next login shows.
@MainActor
@Suite(.timeLimit(.minutes(20))) struct SessionEndTests {
    private let fixture = RunningApp()
    private var backend: Backend { fixture.backend }
    private var app: AppModel { fixture.app }

    init() {
        backend.photos.standing = .success(Data("photo".utf8))
    }

    private func start() async throws -> MainModel {
        let main = try await fixture.start()
        await main.load()
        return main
    }

    /// Ends the session, and returns the login that is shown then.
    @discardableResult
    private func end(_ ending: SignOutReason = .expired()) async throws -> SignInModel {
        backend.session.set(.signedOut(ending))
        await until { app.signIn != nil }
        return try #require(app.signIn)
    }

    private func signIn(_ user: User, as session: SessionID) async throws {
        backend.session.set(.signedIn(session))
        backend.logins.standing = .success(user)
        try await #require(app.signIn).social.signIn(with: .apple)
    }

    @Test func `the end of a session shows one alert with its reason, above the login`() async throws {
        let main = try await start()
        let ending = SessionEnding(status: 401, code: "REFRESH_TOKEN_REUSED", requestID: "r-1")
        try await end(.expired(ending))
        guard case .expired(let shown)? = app.alert?.reason else {
            Issue.record("there is no alert")
            return
        }
        #expect(shown == ending)
        #expect(main.list.articles.isEmpty)
        app.dismissAlert()
        backend.session.set(.signedOut(.expired(ending)))
        backend.session.set(.signedOut(.expired(ending)))
        try await signIn(.ada, as: .second)
        #expect(app.alert == nil)
    }

    @Test func `the alert promises a place and a draft only when they are kept`() async throws {
        let main = try await start()
        main.path = [.article(.fixture(1))]
        try await end()
        #expect(app.alert == SessionEndAlert(reason: .expired(), isPlaceKept: true, isDraftKept: false))
        try await signIn(.ada, as: .second)
        let next = try #require(app.main)
        next.compose.draft = ArticleDraft(title: "Title", content: "")
        try await end()
        #expect(app.alert?.isDraftKept == true)
        let nothing = SessionEndAlert(reason: .expired(), isPlaceKept: false, isDraftKept: false)
        #expect(Strings(.english).message(for: nothing) == "The server has ended your session.")
        let all = SessionEndAlert(reason: .expired(), isPlaceKept: true, isDraftKept: true)
        let text = Strings(.english).message(for: all)
        #expect(text.hasSuffix("Your draft is kept. After signing in you continue where you were."))
    }

    @Test func `many calls that fail because the session ended show one alert`() async throws {
        let main = try await start()
        backend.pages.standing = nil
        let refresh = await backend.pages.called { await main.list.refresh() }
        let read = await backend.reads.called { await main.article(.fixture(1)).load() }
        backend.session.setSilently(.signedOut(.expired()))
        await backend.pages.fail(1, with: ScreenError.ended)
        await backend.reads.fail(0, with: ScreenError.ended, ending: refresh)
        await read.value
        #expect(app.alert != nil)
        app.dismissAlert()
        backend.session.set(.signedOut(.expired()))
        backend.session.set(.signedIn(.second))
        await until { app.main != nil }
        #expect(app.alert == nil)
    }

    @Test func `a call that fails without the end of the session shows its error and no alert`() async throws {
        let main = try await start()
        backend.pages.standing = .failure(ScreenError.ended)
        await main.list.refresh()
        #expect(main.list.banner == .ended)
        #expect(app.main === main)
        #expect(app.alert == nil)
    }

    @Test func `an article whose session ends shows the login, and its error nowhere`() async throws {
        let main = try await start()
        let article = main.article(.fixture(1))
        let load = await backend.reads.called { await article.load() }
        backend.session.setSilently(.signedOut(.expired()))
        await backend.reads.fail(0, with: ScreenError.ended, ending: load)
        #expect(app.signIn != nil)
        #expect(article.phase == .idle)
        #expect(article.article == nil)
    }

    @Test func `the same user continues where the session ended, with the draft`() async throws {
        let main = try await start()
        main.path = [.article(.fixture(1)), .compose]
        main.compose.draft = ArticleDraft(title: "Title", content: "Text")
        let submit = await backend.creations.called { await main.compose.submit() }
        backend.session.setSilently(.signedOut(.expired()))
        await backend.creations.fail(0, with: ScreenError.ended, ending: submit)
        #expect(app.signIn != nil)
        #expect(!main.compose.hasDraft)
        try await signIn(.ada, as: .second)
        let next = try #require(app.main)
        #expect(next.path == [.article(.fixture(1)), .compose])
        #expect(next.compose.draft == ArticleDraft(title: "Title", content: "Text"))
        backend.creations.standing = .success(.fixture(9))
        await next.compose.submit()
        #expect(Set(backend.creations.requests.map { $0.key }).count == 1)
        #expect(next.path == [.article(.fixture(1))])
        #expect(next.list.articles.first?.id == .fixture(9))
    }

    @Test func `a state that arrives before the login has its user does not open the session without a user`()
        async throws
    {
        let main = try await start()
        main.compose.draft = ArticleDraft(title: "Title", content: "Text")
        let login = try await end()
        let tap = await backend.logins.called { await login.social.signIn(with: .apple) }
        await backend.session.setAndAwaitRead(.signedIn(.second))
        #expect(app.signIn === login)
        await backend.logins.respond(to: 0, with: .ada, ending: tap)
        #expect(app.main?.user == .ada)
        #expect(app.main?.compose.hasDraft == true)
    }

    @Test func `another user sees neither place nor draft nor articles of the one before`() async throws {
        let main = try await start()
        main.path = [.compose]
        main.compose.draft = ArticleDraft(title: "Title", content: "Text")
        try await end()
        try await signIn(.grace, as: .second)
        backend.pages.standing = .failure(ScreenError.offline)
        let next = try #require(app.main)
        await next.load()
        #expect(next.user == .grace)
        #expect(next.path.isEmpty)
        #expect(!next.compose.hasDraft)
        #expect(next.list.articles.isEmpty)
    }

    @Test func `a user who signed out leaves no draft, for the same user either`() async throws {
        let main = try await start()
        main.compose.draft = ArticleDraft(title: "Title", content: "Text")
        await app.signOut()
        try await signIn(.ada, as: .second)
        #expect(app.main?.compose.hasDraft == false)
    }

    @Test func `another account that replaces the session gets screens of its own, and no late response`() async throws
    {
        let main = try await start()
        backend.pages.standing = nil
        backend.pages.ignoresCancellation = true
        let refresh = await backend.pages.called { await main.list.refresh() }
        backend.session.set(.signedIn(.second))
        await until { app.main !== main }
        let next = try #require(app.main)
        await backend.pages.respond(to: 1, with: .fixture(1...2), ending: refresh)
        #expect(main.list.articles.isEmpty)
        #expect(next.list.articles.isEmpty)
        #expect(next.user == nil)
        #expect(main.article(.fixture(1)).article == nil)
    }

    @Test func `an article that was read for another account is not shown`() async throws {
        let main = try await start()
        backend.reads.ignoresCancellation = true
        let article = main.article(.fixture(1))
        let load = await backend.reads.called { await article.load() }
        backend.session.set(.signedIn(.second))
        await until { app.main !== main }
        await backend.reads.respond(to: 0, with: .fixture(1), ending: load)
        #expect(article.article == nil)
        #expect(app.main?.article(.fixture(1)).article == nil)
    }

    @Test func `a state that arrives late does not end the session after it`() async throws {
        let main = try await start()
        backend.session.setSilently(.signedOut(.expired()))
        backend.pages.standing = .failure(ScreenError.ended)
        await main.list.refresh()
        backend.session.set(.signedOut(.expired()))
        try await signIn(.ada, as: .second)
        let next = try #require(app.main)
        backend.session.set(.signedIn(.second))
        await app.signOut()
        #expect(app.main == nil)
        #expect(next.session == .second)
    }

    @Test func `a guest whose session ends at once sees the login`() async throws {
        _ = try await start()
        let login = try await end(.byUser)
        login.guest.name = "Ada"
        await login.guest.pick { Data("photo".utf8) }
        backend.registrations.standing = .success(.ada)
        await login.guest.submit()
        #expect(app.signIn === login)
    }
}
