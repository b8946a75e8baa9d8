@MainActor
final class Recorder<Value> {
    var values: [Value] = []
}

/// The double of a call: each call waits until the test responds to it, in any order.
@MainActor
final class Responder<Request: Sendable, Response: Sendable> {
    private(set) var requests: [Request] = []

    /// The response to every call that the test has not responded to by its number.
    var standing: Result<Response, any Error>?

    /// Whether calls go on after their task was cancelled.
    var ignoresCancellation = false

    private var waiting: [Int: CheckedContinuation<Response, any Error>] = [:]
    private var watchers: [(count: Int, wait: AsyncStream<Void>.Continuation)] = []

    func call(_ request: Request) async throws -> Response {
        let index = requests.count
        requests.append(request)
        for watcher in watchers where watcher.count <= requests.count { watcher.wait.finish() }
        watchers.removeAll { $0.count <= requests.count }
        if let standing { return try standing.get() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                if Task.isCancelled, !ignoresCancellation {
                    continuation.resume(throwing: CancellationError())
                } else {
                    waiting[index] = continuation
                }
            }
        } onCancel: {
            Task { @MainActor in self.cancel(index) }
        }
    }

    /// Waits until a number of calls have arrived, or until the task is cancelled.
    func calls(atLeast count: Int) async {
        let (reached, wait) = AsyncStream.makeStream(of: Void.self)
        if requests.count >= count { wait.finish() } else { watchers.append((count, wait)) }
        for await _ in reached {}
    }

    /// Starts work, and returns when it has made its call.
    func called(by work: @escaping @MainActor () async -> Void) async -> Task<Void, Never> {
        let count = requests.count + 1
        let task = Task { await work() }
        await calls(atLeast: count)
        return task
    }

    /// Responds to a call, the first of which is 0, and waits for the end of the task that has made it.
    func respond(to index: Int, with response: Response, ending task: Task<Void, Never>? = nil) async {
        waiting.removeValue(forKey: index)?.resume(returning: response)
        await task?.value
    }

    func fail(_ index: Int, with error: any Error, ending task: Task<Void, Never>? = nil) async {
        waiting.removeValue(forKey: index)?.resume(throwing: error)
        await task?.value
    }

    private func cancel(_ index: Int) {
        guard !ignoresCancellation else { return }
        waiting.removeValue(forKey: index)?.resume(throwing: CancellationError())
    }
}
