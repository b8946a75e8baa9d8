package import DataAPI
import Observation

@Observable
@MainActor
package final class ArticleModel {
    package let id: Article.ID

    /// The article, as far as it is known: from the list first, then from the server.
    package private(set) var article: Article?

    package private(set) var phase = LoadPhase.idle

    @ObservationIgnored private let call = ModelCall()
    private let articles: any ArticleAccess
    private let sessionMayHaveEnded: () -> Void

    init(
        id: Article.ID, known: Article?, articles: any ArticleAccess, sessionMayHaveEnded: @escaping () -> Void
    ) {
        self.id = id
        article = known
        self.articles = articles
        self.sessionMayHaveEnded = sessionMayHaveEnded
    }

    package func load() async {
        guard phase != .loaded else { return }
        await call.join { [self] in await fetch($0) }
    }

    /// Loads the article again. A response to an earlier request does not count any more.
    package func refresh() async {
        await call.refresh { [self] in await fetch($0) }
    }

    func close() {
        call.cancel()
        article = nil
        phase = .idle
    }

    private func fetch(_ ticket: ModelCall.Ticket) async {
        let before = phase == .loading ? .idle : phase
        phase = .loading
        do {
            let article = try await articles.article(id)
            guard ticket.isCurrent else { return }
            self.article = article
            phase = .loaded
        } catch let error where error.isCancellation {
            if ticket.isCurrent { phase = before }
        } catch {
            guard let error = ticket.failure(error, sessionMayHaveEnded) else { return }
            // What the server has deleted is not shown from the list.
            if error.status == 404 { article = nil }
            phase = .failed(error)
        }
    }
}
