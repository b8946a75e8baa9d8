import AuthInterface
import DataAPI
import Foundation
import Testing

@testable import ArticlesUI

@MainActor
@Suite(.timeLimit(.minutes(20))) struct UpgradeTests {
    private let fixture = RunningApp()
    private var backend: Backend { fixture.backend }
    private var app: AppModel { fixture.app }

    private func start() async throws -> MainModel {
        let main = try await fixture.start()
        main.path = [.account]
        return main
    }

    private let kept = User(id: User.ada.id, name: "Ada Lovelace")

    @Test func `a guest who keeps the account stays the same user in the same session`() async throws {
        let main = try await start()
        let tap = await backend.upgrades.called { await main.upgrade.signIn(with: .kakao) }
        #expect(main.upgrade.phase == .loading && main.upgrade.provider == .kakao)
        await backend.upgrades.respond(to: 0, with: kept, ending: tap)
        #expect(main.upgrade.phase == .loaded && main.upgrade.provider == nil)
        #expect(main.user == kept && main.session == .first && main.path == [.account])
    }

    @Test func `the account shows the user's photo, loads it once, and not for a session that is over`() async throws {
        let main = try await start()
        backend.portraits.standing = .failure(ScreenError("timedOut"))
        await main.loadAccount()
        #expect(main.photo == nil && main.user == .ada)
        backend.portraits.standing = .success(Data([1]))
        await main.loadAccount()
        await main.loadAccount()
        #expect(main.photo == Data([1]) && backend.portraits.requests == [.ada, .ada])
        backend.users.standing = .success(.ada)
        main.close()
        await main.loadAccount()
        #expect(main.photo == nil && backend.portraits.requests.count == 2)
    }

    @Test(arguments: [true, false])
    func `a user who has signed in with a provider is offered none, and a guest is`(isGuest: Bool) async throws {
        await fixture.launch(.signedOut(.never), state: .signedOut(.never))
        let login = try #require(app.signIn)
        backend.session.setSilently(.signedIn(.first))
        if isGuest {
            backend.photos.standing = .success(Data("photo".utf8))
            backend.registrations.standing = .success(.ada)
            login.guest.name = "Ada"
            await login.guest.pick { Data("photo".utf8) }
            await login.guest.submit()
        } else {
            backend.logins.standing = .success(.grace)
            await login.social.signIn(with: .apple)
        }
        #expect(try #require(app.main).upgrade.providers == (isGuest ? [.apple, .kakao] : []))
    }

    @Test func `an upgrade that failed can be tried again`() async throws {
        let main = try await start()
        let inUse = ScreenError("unacceptableStatus", status: 409, detail: "The account belongs to another user.")
        backend.upgrades.standing = .failure(inUse)
        await main.upgrade.signIn(with: .apple)
        #expect(main.upgrade.phase == .failed(inUse) && main.user == .ada)
        backend.upgrades.standing = .success(kept)
        await main.upgrade.signIn(with: .kakao)
        #expect(main.upgrade.phase == .loaded && main.user == kept)
    }

    @Test func `an upgrade whose session ends shows the login, and its error nowhere`() async throws {
        let main = try await start()
        backend.upgrades.standing = nil
        let tap = await backend.upgrades.called { await main.upgrade.signIn(with: .apple) }
        backend.session.setSilently(.signedOut(.expired()))
        await backend.upgrades.fail(0, with: ScreenError.ended, ending: tap)
        #expect(app.signIn != nil && app.alert != nil)
        #expect(main.upgrade.phase == .idle)
    }

    @Test func `an upgrade of another account's session changes no user`() async throws {
        let main = try await start()
        backend.upgrades.ignoresCancellation = true
        let tap = await backend.upgrades.called { await main.upgrade.signIn(with: .apple) }
        backend.users.standing = .success(.grace)
        backend.session.set(.signedIn(.second))
        await until { app.main?.session == .second }
        await backend.upgrades.respond(to: 0, with: kept, ending: tap)
        #expect(main.user == nil && app.main?.user != kept)
        #expect(app.main?.upgrade.phase == .idle)
    }
}
