import ArticlesUI
import Foundation
import Observation

/// The one window of the user: the models of the screens, whichever tabs show them.
@MainActor
final class WebWindow {
    let app: AppModel

    private let actionWait: Duration
    private var work: [Int: Task<Void, Never>] = [:]
    private var listeners: [Int: AsyncStream<Void>.Continuation] = [:]
    private var lastNumber = 0
    private var isClosed = false
    private var forms: (session: AnyHashable?, number: Int) = (nil, 0)

    init(services: ScreenServices, actionWait: Duration) {
        app = AppModel(services: services)
        self.actionWait = actionWait
    }

    func open() {
        start { [app] in await app.run() }
    }

    /// Ends the live updates, and cancels what the user has started.
    func close() {
        isClosed = true
        for listener in listeners.values { listener.finish() }
        for task in work.values { task.cancel() }
    }

    var location: Location {
        switch app.root {
        case .splash: .launch
        case .signIn: .signIn
        case .main(let main): .main(main.path.last)
        }
    }

    /// Shows a screen of the session, if there is one.
    func visit(_ location: Location) {
        guard let main = app.main, location != self.location, case .main(let screen) = location else { return }
        main.path = [screen].compactMap(\.self)
    }

    /// Loads what the screen shows, if that was not requested yet.
    func load() async {
        if let splash = app.splash, splash.phase.error == nil {
            await perform { await splash.launch() }
        }
        guard let main = app.main else { return }
        if case .article(let id)? = main.path.last {
            let model = main.article(id)
            if model.phase == .idle { await perform { await model.load() } }
        } else if main.path.last == .account {
            await perform { await main.loadAccount() }
        } else if main.path.isEmpty, main.list.phase == .idle || main.list.phase == .loaded && main.user == nil {
            await perform { await main.load() }
        }
    }

    /// Starts work, and waits for its end, at most for the configured time. It continues when the request is gone.
    func perform(_ action: @escaping @MainActor () async -> Void) async {
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        start {
            await action()
            end.finish()
        }
        let limit = Task { [actionWait] in
            try? await Task.sleep(for: actionWait)
            end.finish()
        }
        for await _ in ends {}
        limit.cancel()
    }

    private func start(_ action: @escaping @MainActor () async -> Void) {
        guard !isClosed else { return }
        lastNumber += 1
        work[lastNumber] = Task { [weak self, number = lastNumber] in
            await action()
            self?.work[number] = nil
        }
    }

    /// The number of the session that is shown, which its forms carry: a form of another one does nothing, so that
    /// what one user has typed is not sent as the next one.
    var formNumber: Int {
        let session = app.main.map { AnyHashable($0.session) }
        if session != forms.session { forms = (session, forms.number + 1) }
        return forms.number
    }

    /// The page of the screen that is shown, or of a request that failed with an HTTP status. The next change of a
    /// value that it shows is notified.
    func page(
        _ language: Language, _ access: AccessGuard, ofError status: Int? = nil,
        notifying change: AsyncStream<Void>.Continuation? = nil
    ) -> Page {
        withObservationTracking {
            Page(of: app, at: location, in: language, formToken: access.formToken(formNumber), ofError: status)
        } onChange: {
            change?.yield()
        }
    }

    /// Changes of pages, the first one at once. The stream ends when the window closes.
    func changes() -> (stream: AsyncStream<Void>, change: AsyncStream<Void>.Continuation) {
        let (stream, change) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        change.yield()
        if isClosed { change.finish() }
        lastNumber += 1
        listeners[lastNumber] = change
        change.onTermination = { [number = lastNumber] _ in
            Task { @MainActor [weak self] in self?.listeners[number] = nil }
        }
        return (stream, change)
    }

    func photo(isOfUser: Bool) -> Data? {
        isOfUser ? app.main?.photo : app.signIn?.guest.photo.prepared
    }
}
