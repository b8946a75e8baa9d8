package import DataAPI
import Foundation
import Observation

/// A new article. The draft stays until the server has stored it.
@Observable
@MainActor
package final class ComposeModel {
    package var draft = ArticleDraft(title: "", content: "")

    package private(set) var phase = LoadPhase.idle

    /// Identifies the form in which the draft is written. After the draft is published, the next one has another form.
    package private(set) var form = UUID().uuidString

    /// The last attempts, the newest first. The same draft of the same form is sent again with the same key, so that
    /// neither a lost response nor a form that is sent twice makes a second article.
    private var attempts: [Attempt] = []
    @ObservationIgnored private let call = ModelCall()
    private let articles: any ArticleAccess
    private let sessionMayHaveEnded: () -> Void
    private let finish: (Article) -> Void

    init(
        articles: any ArticleAccess, sessionMayHaveEnded: @escaping () -> Void, finish: @escaping (Article) -> Void
    ) {
        self.articles = articles
        self.sessionMayHaveEnded = sessionMayHaveEnded
        self.finish = finish
    }

    package var canSubmit: Bool { isComplete && phase != .loading }
    package var hasDraft: Bool { !draft.title.isEmpty || !draft.content.isEmpty }

    private var isComplete: Bool {
        [draft.title, draft.content].allSatisfy { text in text.contains { !$0.isWhitespace } }
    }

    /// Publishes the draft.
    ///
    /// - Parameter form: The form in which the user has written it; `nil` is the current one.
    package func submit(from form: String? = nil) async {
        let incomplete = isComplete ? nil : ScreenError("incompleteDraft")
        if let error = incomplete ?? ScreenError(tooLong: [.title: draft.title, .text: draft.content]) {
            // A screen cannot always disable its button.
            if phase != .loading { phase = .failed(error) }
            return
        }
        await call.join { [self] ticket in
            let attempt = attempt(from: form ?? self.form)
            let draft = attempt.draft
            phase = .loading
            do {
                let article = try await articles.create(draft, key: attempt.key)
                guard ticket.isCurrent else { return }
                phase = .idle
                self.form = UUID().uuidString
                // What was written meanwhile is another draft.
                if self.draft == draft { self.draft = ArticleDraft(title: "", content: "") }
                finish(article)
            } catch let error where error.isCancellation {
                if ticket.isCurrent { phase = .idle }
            } catch {
                guard let error = ticket.failure(error, sessionMayHaveEnded) else { return }
                phase = .failed(error)
            }
        }
    }

    /// The attempt to publish the draft: an earlier one of the same form, or a new one.
    private func attempt(from form: String) -> Attempt {
        if let known = attempts.first(where: { $0.form == form && $0.draft == draft }) { return known }
        let new = Attempt(form: form, draft: draft, key: UUID().uuidString)
        attempts = [new] + attempts.prefix(Self.attemptLimit - 1)
        return new
    }

    /// Stops publishing. The draft stays. The article may have been created.
    package func cancel() {
        call.cancel()
        phase = .idle
    }

    /// What a later session of the same user takes over.
    var place: Place { Place(draft: draft, form: form, attempts: attempts) }

    struct Place {
        fileprivate let draft: ArticleDraft
        fileprivate let form: String
        fileprivate let attempts: [Attempt]
    }

    fileprivate struct Attempt {
        let form: String
        let draft: ArticleDraft
        let key: String
    }

    /// How many attempts are remembered. A browser sends a form twice within seconds.
    private static let attemptLimit = 8

    func restore(_ place: Place) {
        (draft, form, attempts) = (place.draft, place.form, place.attempts)
    }

    func close() {
        cancel()
        draft = ArticleDraft(title: "", content: "")
        (form, attempts) = (UUID().uuidString, [])
    }
}
