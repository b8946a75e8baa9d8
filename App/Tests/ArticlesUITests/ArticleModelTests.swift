import DataAPI
import Testing

@testable import ArticlesUI

@MainActor
@Suite(.timeLimit(.minutes(20))) struct ArticleModelTests {
    let backend = Backend()

    private func model(known: Article? = nil) -> ArticleModel {
        ArticleModel(id: .fixture(1), known: known, articles: backend, sessionMayHaveEnded: {})
    }

    @Test func `an article that loads shows what the list knows`() async {
        let model = model(known: .fixture(1, title: "Old"))
        let load = await backend.reads.called { await model.load() }
        #expect(model.phase == .loading)
        #expect(model.article?.title == "Old")
        await backend.reads.respond(to: 0, with: .fixture(1, title: "New"), ending: load)
        #expect(model.article?.title == "New")
    }

    @Test func `an article that failed loads when the user tries again`() async {
        let model = model()
        backend.reads.standing = .failure(ScreenError.offline)
        await model.load()
        #expect(model.phase == .failed(.offline))
        backend.reads.standing = .success(.fixture(1))
        await model.load()
        #expect(model.phase == .loaded)
    }

    @Test func `an article that the server has deleted is not shown from the list`() async {
        let model = model(known: .fixture(1))
        backend.reads.standing = .failure(ScreenError("unacceptableStatus", status: 404))
        await model.load()
        #expect(model.article == nil)
        #expect(model.phase.error?.status == 404)
    }

    @Test func `an article whose view disappears shows no error`() async {
        let model = model()
        let load = await backend.reads.called { await model.load() }
        load.cancel()
        await load.value
        #expect(model.phase == .idle)
    }

    @Test func `an older response never replaces a newer article`() async {
        let model = model()
        backend.reads.ignoresCancellation = true
        let load = await backend.reads.called { await model.load() }
        let refresh = await backend.reads.called { await model.refresh() }
        await backend.reads.respond(to: 1, with: .fixture(1, title: "Newer"), ending: refresh)
        await backend.reads.respond(to: 0, with: .fixture(1, title: "Older"), ending: load)
        #expect(model.article?.title == "Newer")
    }
}
