/// The one call that a screen has under way.
///
/// A caller that comes while it runs waits for it, so a double tap makes one call. Work asks its ``Ticket`` after each
/// suspension whether its result still counts: the result of a call that was superseded or cancelled does not.
@MainActor
final class ModelCall {
    @MainActor
    struct Ticket {
        fileprivate let number: Int
        fileprivate let call: ModelCall

        /// Whether the call was neither superseded nor cancelled by the screen.
        var isCurrent: Bool { call.newest == number }

        /// An error of the call as the screen shows it; `nil` when the call does not count. For an error that says so,
        /// `sessionMayHaveEnded` is called first, which may close the screen.
        func failure(_ error: any Error, _ sessionMayHaveEnded: () -> Void) -> ScreenError? {
            guard isCurrent else { return nil }
            let error = ScreenError(error)
            if error.mayEndSession { sessionMayHaveEnded() }
            return isCurrent ? error : nil
        }
    }

    typealias Work = @MainActor (Ticket) async -> Void

    private var newest = 0
    private var running: (number: Int, task: Task<Void, Never>, isRefresh: Bool)?

    var isRunning: Bool { running != nil }

    /// Starts the work, or waits for the call under way.
    ///
    /// The work is cancelled with the task that started it. A caller that waits then starts its own, so that a view
    /// that appears while another one disappears is not left without content.
    func join(_ work: @escaping Work) async {
        while let (number, task, _) = running {
            await task.value
            guard task.isCancelled, newest == number, !Task.isCancelled else { return }
        }
        await start(work)
    }

    func wait() async {
        while let task = running?.task { await task.value }
    }

    func restart(_ work: @escaping Work) async {
        cancel()
        await start(work)
    }

    /// As ``restart(_:)``, unless the call under way is a refresh too: then it waits for that one.
    func refresh(_ work: @escaping Work) async {
        if running?.isRefresh == true { return await join(work) }
        cancel()
        await start(work, isRefresh: true)
    }

    /// Cancels the call under way. Its result does not count any more.
    func cancel() {
        newest += 1
        running?.task.cancel()
        running = nil
    }

    private func start(_ work: @escaping Work, isRefresh: Bool = false) async {
        newest += 1
        let number = newest
        let task = Task {
            await work(Ticket(number: number, call: self))
            if running?.number == number { running = nil }
        }
        running = (number, task, isRefresh)
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }
}
