import AuthInterface
import DataAPI
import Foundation
import Testing

@testable import ArticlesUI

@MainActor
@Suite(.timeLimit(.minutes(20))) struct SignInModelTests {
    let backend = Backend()
    let login: SignInModel
    private let finished = Recorder<User?>()

    init() {
        let finished = finished
        login = SignInModel(reason: .never, services: backend.services) { finished.values.append($0) }
    }

    private var guest: GuestLoginModel { login.guest }
    private var social: ProviderLoginModel { login.social }

    private func fill() async {
        backend.photos.standing = .success(Data("prepared".utf8))
        guest.name = " Ada "
        await guest.pick { Data("picked".utf8) }
    }

    @Test func `a guest needs a name and a photo`() async {
        await guest.submit()
        #expect(!guest.canSubmit)
        #expect(guest.phase == .failed(ScreenError("incompleteGuest")))
        await fill()
        #expect(guest.canSubmit)
        guest.name = "  "
        #expect(!guest.canSubmit)
        await guest.submit()
        guest.name = String(repeating: "x", count: 51)
        await guest.submit()
        #expect(guest.phase.error?.limits == [.name: 50])
        #expect(backend.registrations.requests.isEmpty)
    }

    @Test func `a guest login shows the progress of the upload, which never decreases`() async throws {
        await fill()
        let submit = await backend.registrations.called { await guest.submit() }
        #expect(guest.phase == .loading)
        #expect(guest.uploaded == 0)
        let request = try #require(backend.registrations.requests.first)
        #expect(request.name == "Ada")
        #expect(request.photo == Data("prepared".utf8))
        request.progress(0.5)
        await until { guest.uploaded == 0.5 }
        request.progress(0.25)
        request.progress(0.75)
        await until { guest.uploaded == 0.75 }
        await backend.registrations.respond(to: 0, with: .ada, ending: submit)
        #expect(guest.uploaded == nil)
        #expect(finished.values == [.ada])
    }

    @Test func `a guest login that failed keeps name and photo for another try`() async {
        await fill()
        backend.registrations.standing = .failure(ScreenError.offline)
        await guest.submit()
        #expect(guest.phase == .failed(.offline))
        #expect(guest.canSubmit)
        #expect(finished.values == [nil])
        backend.registrations.standing = .success(.ada)
        await guest.submit()
        #expect(finished.values == [nil, .ada])
    }

    @Test func `a guest login that the user cancels shows no error, and its late result does not count`() async {
        await fill()
        backend.registrations.ignoresCancellation = true
        let submit = await backend.registrations.called { await guest.submit() }
        guest.cancel()
        #expect(guest.phase == .idle)
        #expect(guest.uploaded == nil)
        await backend.registrations.respond(to: 0, with: .ada, ending: submit)
        #expect(finished.values == [nil])
    }

    @Test func `two taps on a login make one call`() async {
        await fill()
        let taps = [Task { await guest.submit() }, Task { await guest.submit() }]
        await backend.registrations.calls(atLeast: 1)
        let other = Task { await social.signIn(with: .apple) }
        await backend.registrations.respond(to: 0, with: .ada)
        for tap in taps + [other] { await tap.value }
        #expect(backend.registrations.requests.count == 1)
        #expect(backend.tokens.requests.isEmpty)
        #expect(finished.values == [.ada])
    }

    @Test func `the photo that was picked last is used, whichever is ready first`() async {
        backend.photos.ignoresCancellation = true
        let first = await backend.photos.called { await guest.pick { Data("first".utf8) } }
        #expect(guest.photo == .preparing)
        let second = await backend.photos.called { await guest.pick { Data("second".utf8) } }
        await backend.photos.respond(to: 1, with: Data("second prepared".utf8), ending: second)
        await backend.photos.respond(to: 0, with: Data("first prepared".utf8), ending: first)
        #expect(guest.photo == .ready(Data("second prepared".utf8)))
    }

    @Test func `a login waits for the photo that is being prepared`() async {
        guest.name = "Ada"
        let pick = await backend.photos.called { await guest.pick { Data("picked".utf8) } }
        let submit = Task { await guest.submit() }
        backend.registrations.standing = .success(.ada)
        await backend.photos.respond(to: 0, with: Data("prepared".utf8), ending: pick)
        await submit.value
        #expect(backend.registrations.requests.map { $0.photo } == [Data("prepared".utf8)])
        #expect(finished.values == [.ada])
    }

    @Test func `a photo that cannot be used says why, and a picker that is closed changes nothing`() async {
        await fill()
        await guest.pick { nil }
        #expect(guest.photo == .ready(Data("prepared".utf8)))
        backend.photos.standing = .failure(ScreenError("notAnImage"))
        await guest.pick { Data("text".utf8) }
        #expect(guest.photo == .failed(ScreenError("notAnImage")))
        #expect(!guest.canSubmit)
        await guest.submit()
        #expect(guest.phase == .idle)
    }

    @Test func `a social login obtains the provider's token and signs in`() async {
        let tap = await backend.tokens.called { await social.signIn(with: .kakao) }
        #expect(social.phase == .loading)
        #expect(social.provider == .kakao)
        await backend.tokens.respond(to: 0, with: "fixture")
        await backend.logins.calls(atLeast: 1)
        await backend.logins.respond(to: 0, with: .grace, ending: tap)
        #expect(finished.values == [.grace])
        #expect(social.provider == nil)
    }

    @Test func `a user who closes the provider's sheet sees no error`() async {
        backend.tokens.standing = .failure(CancellationError())
        await social.signIn(with: .apple)
        #expect(social.phase == .idle)
        #expect(backend.logins.requests.isEmpty)
    }

    @Test func `a social login that failed can be tried again`() async {
        backend.tokens.standing = .success("fixture")
        backend.logins.standing = .failure(ScreenError.offline)
        await social.signIn(with: .apple)
        #expect(social.phase == .failed(.offline))
        backend.logins.standing = .success(.ada)
        await social.signIn(with: .apple)
        #expect(finished.values == [nil, .ada])
    }

    @Test func `two taps on a provider make one call`() async {
        let taps = [Task { await social.signIn(with: .apple) }, Task { await social.signIn(with: .kakao) }]
        await backend.tokens.calls(atLeast: 1)
        await backend.tokens.fail(0, with: ScreenError.offline)
        for tap in taps { await tap.value }
        #expect(backend.tokens.requests == [.apple])
    }

    @Test func `a token that arrives after the user has cancelled is not used`() async {
        backend.tokens.ignoresCancellation = true
        let tap = await backend.tokens.called { await social.signIn(with: .apple) }
        social.cancel()
        await backend.tokens.respond(to: 0, with: "fixture", ending: tap)
        #expect(backend.logins.requests.isEmpty)
        #expect(social.phase == .idle)
    }
}
