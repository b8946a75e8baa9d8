import ConcurrencyPrimitives
import Foundation
import NetworkCore
import NetworkExchange

/// Performs an exchange with a task of URLSession, whose reports come through a ``URLSessionRouter``.
final class URLSessionDriver: ExchangeDriver {
    private struct State {
        var task: URLSessionTask?
        /// Ends the stream of the body.
        var endStream: (@Sendable () -> Void)?
        var isEnded = false
    }

    let exchange: Exchange
    let upload: URLSessionUpload
    private let unreadLimit: Int
    /// Makes the task, and routes its reports to the driver. It may never be called.
    private let makeTask: @Sendable (URLSessionDriver) throws -> URLSessionTask
    private let state = Locked(State())

    init(
        _ exchange: Exchange, upload: URLSessionUpload, unreadLimit: Int,
        makeTask: @escaping @Sendable (URLSessionDriver) throws -> URLSessionTask
    ) {
        self.exchange = exchange
        self.upload = upload
        self.unreadLimit = unreadLimit
        self.makeTask = makeTask
    }

    func start() {
        // URLSession does not say when.
        exchange.markSending()
        BlockingCalls.perform {
            guard !self.state.withLock({ $0.isEnded }) else { return }
            do {
                let task = try self.makeTask(self)
                let isEnded = self.state.withLock { state in
                    if !state.isEnded { state.task = task }
                    return state.isEnded
                }
                // The task still has to end, so that its session can.
                guard !isEnded else { return task.cancel() }
                // A body that is counted shows when the request is sent.
                let hasBody = !self.exchange.request.body.isEmpty
                let isUnsent = { @Sendable [weak self] in
                    hasBody && task.countOfBytesSent == 0 && !(self?.exchange.progress.hasHead ?? true)
                }
                guard self.exchange.start(isUnsent: isUnsent) else { return }
                // Waiting for the thread that makes tasks is no silence of the server.
                self.exchange.touch()
                task.resume()
            } catch {
                self.exchange.cancel(error)
            }
        }
    }

    func cause(of error: (any Error)?) -> (any Error)? { upload.end(error) }

    /// It does not wait for URLSession to report the end: of a cancelled task it may never do so, and others wait.
    func end(_ error: (any Error)?) {
        let before = state.withLock { state in
            defer { state = State(isEnded: true) }
            return state
        }
        upload.discard()
        before.endStream?()
        guard error != nil, let task = before.task else { return }
        BlockingCalls.perform { task.cancel() }
    }
}

// What the delegate reports.
extension URLSessionDriver {
    func receive(_ head: HTTPResponseHead) {
        let problem = (100...999).contains(head.status) ? head.lengthProblem : HTTPTransportError.noStatus
        if let problem { return exchange.cancel(HTTPTransportError(.invalidResponse, reason: problem)) }
        // An informational response (1xx) is not the response.
        guard !(100..<200).contains(head.status) else { return exchange.touch() }
        if exchange.receive(head) { exchange.deliverHead() }
    }

    func receive(_ data: Data) {
        guard exchange.receive(data) else { return }
        let reason =
            "the body arrives faster than it is read: more than \(unreadLimit) bytes wait; read it faster, or use a "
            + "transport that makes the server wait, as AsyncHTTPClientTransport does"
        // What waits is still read: a download goes on after it.
        exchange.end(.failure(HTTPTransportError(.readTooSlowly, reason: reason)))
    }

    func complete(with error: (any Error)?) {
        guard let error else { return exchange.end() }
        exchange.end(.failure(HTTPTransportError(reportedBy: error, hasHead: exchange.progress.hasHead)))
    }

    #if !canImport(FoundationNetworking)
    /// Makes the stream of a body that is a sequence; `nil` where it is none, or cannot be read.
    func makeStream() -> InputStream? {
        guard case .stream(let body) = upload else { return nil }
        do {
            let (stream, end) = try BoundBodyStream.make(of: body) { self.exchange.cancel($0) }
            let (replaced, isEnded) = state.withLock { state in
                defer { if !state.isEnded { state.endStream = end } }
                return (state.endStream, state.isEnded)
            }
            replaced?()
            if isEnded { end() }
            return stream
        } catch {
            exchange.cancel(error)
            return nil
        }
    }
    #endif
}

/// The calls of URLSession that may wait for its thread: making, starting and cancelling a task, and ending a session.
///
/// On Linux, all sessions of a process share one thread, and these calls wait for it. One response can keep it busy for
/// a long time (see ``URLSessionTransport``). So they have a thread too, on which nothing else waits: without it, they
/// would take the few threads of Swift's tasks, one after the other, and stop all tasks and time limits.
enum BlockingCalls {
    #if canImport(FoundationNetworking)
    private static let queue = DispatchQueue(label: "latchkey.urlsession")

    static func perform(_ call: @escaping @Sendable () -> Void) { queue.async(execute: call) }
    #else
    static func perform(_ call: @escaping @Sendable () -> Void) { call() }
    #endif
}
