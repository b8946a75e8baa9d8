import DataAPI
import Testing

@testable import ArticlesUI

@MainActor
@Suite(.timeLimit(.minutes(20))) struct ComposeModelTests {
    let backend = Backend()
    let compose: ComposeModel
    private let published = Recorder<Article>()

    init() {
        let published = published
        compose = ComposeModel(articles: backend, sessionMayHaveEnded: {}) { published.values.append($0) }
    }

    private let draft = ArticleDraft(title: "Title", content: "Text")

    @Test func `a draft without a title or a text cannot be published`() async {
        #expect(!compose.hasDraft)
        compose.draft = ArticleDraft(title: " ", content: "Text")
        #expect(!compose.canSubmit)
        await compose.submit()
        #expect(backend.creations.requests.isEmpty)
        #expect(compose.phase == .failed(ScreenError("incompleteDraft")))
    }

    @Test func `a draft that is longer than the server takes is not sent, and the error has the limits`() async {
        let title = String(repeating: "e\u{301}", count: 100)
        let text = String(repeating: "x", count: 20_000)
        compose.draft = ArticleDraft(title: title + "x", content: text + "x")
        await compose.submit()
        #expect(compose.phase.error?.limits == [.title: 200, .text: 20_000])
        #expect(backend.creations.requests.isEmpty && compose.hasDraft)
        backend.creations.standing = .success(.fixture(9))
        compose.draft = ArticleDraft(title: title, content: text)
        await compose.submit()
        #expect(compose.phase == .idle && published.values.count == 1)
    }

    @Test func `an article is published, and the draft is empty again`() async {
        compose.draft = draft
        let submit = await backend.creations.called { await compose.submit() }
        #expect(compose.phase == .loading)
        #expect(!compose.canSubmit)
        await backend.creations.respond(to: 0, with: .fixture(9), ending: submit)
        #expect(published.values.map(\.id) == [.fixture(9)])
        #expect(!compose.hasDraft)
        #expect(compose.phase == .idle)
    }

    @Test func `a draft stays after a failure, and is sent again with the same key`() async {
        compose.draft = draft
        backend.creations.standing = .failure(ScreenError.offline)
        await compose.submit()
        #expect(compose.phase == .failed(.offline))
        #expect(compose.draft == draft)
        backend.creations.standing = .success(.fixture(9))
        await compose.submit()
        #expect(Set(backend.creations.requests.map { $0.key }).count == 1)
        #expect(published.values.count == 1)
    }

    @Test func `a form that is sent again after its draft was published has the same key, and the next form another`()
        async
    {
        let form = compose.form
        backend.creations.standing = .success(.fixture(9))
        for sent in [form, form, nil] {
            compose.draft = draft
            await compose.submit(from: sent)
        }
        let keys = backend.creations.requests.map { $0.key }
        #expect(keys.count == 3 && keys[0] == keys[1] && keys[1] != keys[2])
        #expect(compose.form != form)
        compose.draft = ArticleDraft(title: "Title", content: "Another text")
        await compose.submit(from: form)
        #expect(backend.creations.requests.map { $0.key }.last.map(keys.contains) == false)
    }

    @Test func `two taps on publish make one call`() async {
        compose.draft = draft
        let taps = [Task { await compose.submit() }, Task { await compose.submit() }]
        await backend.creations.calls(atLeast: 1)
        await backend.creations.respond(to: 0, with: .fixture(9))
        for tap in taps { await tap.value }
        #expect(backend.creations.requests.count == 1)
        #expect(published.values.count == 1)
    }

    @Test func `publishing that the user cancels keeps the draft and shows no error`() async {
        compose.draft = draft
        let taps = [Task { await compose.submit() }, Task { await compose.submit() }]
        await backend.creations.calls(atLeast: 1)
        compose.cancel()
        for tap in taps { await tap.value }
        #expect(compose.phase == .idle)
        #expect(compose.draft == draft)
        #expect(backend.creations.requests.count == 1)
    }

    @Test func `what is written while an article is published stays as another draft`() async {
        compose.draft = draft
        let submit = await backend.creations.called { await compose.submit() }
        compose.draft.title = "The next one"
        await backend.creations.respond(to: 0, with: .fixture(9), ending: submit)
        #expect(compose.draft.title == "The next one")
    }
}
