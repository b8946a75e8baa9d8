import ArticlesUI
import Foundation
import Observation

/// The one window of the user: the models of the screens, whichever tabs show them.
@MainActor
final class WebWindow {
    let app: AppModel

    private let renderer = PageRenderer()
    private let configuration: WebServer.Configuration
    private var work: [Int: Task<Void, Never>] = [:]
    private var workCount = 0
    private var listeners: [Int: AsyncStream<Void>.Continuation] = [:]
    private var isClosed = false
    private var forms: (session: AnyHashable?, number: Int) = (nil, 0)

    init(services: ScreenServices, configuration: WebServer.Configuration) {
        app = AppModel(services: services)
        self.configuration = configuration
    }

    /// Starts to follow the session.
    func open() {
        start { [app] in await app.run() }
    }

    /// Ends the live updates, and cancels what the user has started.
    func close() {
        isClosed = true
        for listener in listeners.values { listener.finish() }
        for task in work.values { task.cancel() }
    }

    // MARK: The place

    /// The screen that is shown.
    var location: Location {
        switch app.root {
        case .splash: .launch
        case .signIn: .signIn
        case .main(let main):
            switch main.path.last {
            case .article(let id): .article(id)
            case .compose: .compose
            case .account: .account
            case nil: .articles
            }
        }
    }

    /// Shows a screen of the session, if there is one.
    func visit(_ location: Location) {
        guard case .main(let main) = app.root, location != self.location else { return }
        switch location {
        case .articles: main.path = []
        case .article(let id): main.path = [.article(id)]
        case .compose: main.path = [.compose]
        case .account: main.path = [.account]
        case .launch, .signIn: break
        }
    }

    /// Loads what the screen shows, if that was not requested yet.
    func load() async {
        if case .splash(let splash) = app.root, splash.phase.error == nil {
            await perform { await splash.launch() }
        }
        guard case .main(let main) = app.root else { return }
        if case .article(let id)? = main.path.last {
            let model = main.article(id)
            if model.phase == .idle { await perform { await model.load() } }
        } else if main.path.last == .account {
            await perform { await main.loadAccount() }
        } else if main.path.isEmpty, main.list.phase == .idle || main.list.phase == .loaded && main.user == nil {
            await perform { await main.load() }
        }
    }

    // MARK: Work

    /// Starts work, and waits for its end, at most for the configured time. It continues when the request is gone.
    func perform(_ action: @escaping @MainActor () async -> Void) async {
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        start {
            await action()
            end.finish()
        }
        let limit = Task { [wait = configuration.actionWait] in
            try? await Task.sleep(for: wait)
            end.finish()
        }
        for await _ in ends {}
        limit.cancel()
    }

    private func start(_ action: @escaping @MainActor () async -> Void) {
        guard !isClosed else { return }
        let number = workCount
        workCount += 1
        work[number] = Task { [weak self] in
            await action()
            self?.work[number] = nil
        }
    }

    // MARK: Pages

    /// The number of the session that is shown, which its forms carry: a form of another one does nothing, so that
    /// what one user has typed is not sent as the next one.
    var formNumber: Int {
        var session: AnyHashable?
        if case .main(let main) = app.root { session = main.session }
        if session != forms.session { forms = (session, forms.number + 1) }
        return forms.number
    }

    /// The page of the screen that is shown.
    func page(_ language: Language, _ access: AccessGuard) -> Page {
        renderer.page(of: app, at: location, in: language, formToken: access.formToken(formNumber))
    }

    /// What the page shows now, and again after each change; `nil` is a sign of life. The stream ends when the window
    /// closes; it is empty when too many pages are updated already.
    func updates(_ language: Language, _ access: AccessGuard) -> AsyncStream<PageUpdate?> {
        let (updates, update) = AsyncStream.makeStream(of: PageUpdate?.self, bufferingPolicy: .bufferingNewest(8))
        let (changes, change) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        guard !isClosed, listeners.count < configuration.eventStreams else {
            update.finish()
            return updates
        }
        let number = workCount
        workCount += 1
        listeners[number] = change
        let follower = Task {
            var last = show(language, access, change)
            update.yield(last)
            for await _ in changes {
                let next = show(language, access, change)
                if next != last { update.yield(next) }
                last = next
            }
            update.finish()
        }
        let heartbeat = Task { [interval = configuration.heartbeat] in
            while (try? await Task.sleep(for: interval)) != nil { update.yield(nil) }
        }
        update.onTermination = { _ in
            follower.cancel()
            heartbeat.cancel()
            Task { @MainActor [weak self] in self?.listeners[number] = nil }
        }
        return updates
    }

    /// Renders what the page shows, and notifies of the next change of a value that it has read.
    private func show(
        _ language: Language, _ access: AccessGuard, _ change: AsyncStream<Void>.Continuation
    ) -> PageUpdate {
        withObservationTracking {
            renderer.update(of: app, at: location, in: language, formToken: access.formToken(formNumber))
        } onChange: {
            change.yield()
        }
    }
}

extension WebWindow {
    /// The photo that is ready to be uploaded.
    var photo: Data? {
        if case .signIn(let login) = app.root { login.guest.photo.prepared } else { nil }
    }

    /// The photo of the user.
    var accountPhoto: Data? {
        if case .main(let main) = app.root { main.photo } else { nil }
    }
}
