#if AsyncHTTPClient
import AsyncHTTPClient
import ConcurrencyPrimitives
import Foundation
import NIOCore
import NIOHTTP1
import NetworkCore
import NetworkExchange

/// Performs an exchange with a task of AsyncHTTPClient, whose delegate it is.
final class AsyncHTTPClientDriver: ExchangeDriver {
    struct State {
        var task: HTTPClient.Task<Void>?
        /// How often the request was handed to AsyncHTTPClient.
        var attempts = 0
        var upload: Upload?
        /// While the server waits: it sends more when the promise is fulfilled.
        var demand: EventLoopPromise<Void>?
        var isEnded = false
    }

    /// The sender of a body: its task, what it has handed over, and what tells AsyncHTTPClient that the body has ended.
    struct Upload {
        let task: Task<Void, Never>
        let queue: UploadQueue
        let end: EventLoopPromise<Void>
    }

    /// How often a request is handed to AsyncHTTPClient, at most.
    private static let mostAttempts = 8

    let exchange: Exchange
    /// Kept, so that its connections are not closed before the exchange has ended.
    let client: PooledHTTPClient
    let note: ExchangeNote
    let state = Locked(State())

    var request: HTTPTransportRequest { exchange.request }

    init(_ exchange: Exchange, over client: PooledHTTPClient) {
        self.exchange = exchange
        self.client = client
        note = ExchangeNote(permit: exchange.request.startPermit)
    }

    func start() {
        do {
            let request = try httpRequest()
            let eventLoop = client.nextEventLoop()
            eventLoop.execute { self.execute(request, on: eventLoop) }
        } catch {
            exchange.cancel(error)
        }
    }

    /// Hands the request to AsyncHTTPClient, and again where the connection that its pool has chosen was closed before
    /// a byte was sent: the pool is notified later than the connection itself. Nothing is sent twice.
    ///
    /// It is called on the event loop on which AsyncHTTPClient then calls this delegate.
    private func execute(_ httpRequest: HTTPClient.Request, on eventLoop: any EventLoop) {
        let attempt = state.withLock { state -> Int? in
            guard !state.isEnded else { return nil }
            state.attempts += 1
            return state.attempts
        }
        guard let attempt else {
            // It may have ended before its note was kept.
            client.log?.remove(note)
            return
        }
        // The connections of an application's client do not ask.
        if client.log == nil {
            let isUnsent = { @Sendable [weak exchange] in !(exchange?.progress.isSent ?? true) }
            guard exchange.start(isUnsent: isUnsent) else { return }
        }
        let task = client.client.execute(request: httpRequest, delegate: self, eventLoop: .delegate(on: eventLoop))
        task.futureResult.whenFailure { error in
            let isLatest = self.state.withLock { state in
                !state.isEnded && state.attempts == attempt && attempt < Self.mostAttempts
            }
            let progress = self.exchange.progress
            let isClosed = HTTPTransportError.isClosedConnection(error)
            if isLatest, !progress.isSent, isClosed, self.client.mayHaveClosedConnection {
                return self.execute(httpRequest, on: eventLoop)
            }
            // The whole response was there before the request was sent, and the connection has closed since, or does
            // not take the end of the request any more. AsyncHTTPClient may have dropped a part of the body.
            let isOver = isClosed || error as? HTTPClientError == .requestStreamCancelled
            let isWhole = progress.hasHead && self.note.isWhole(after: progress.bytesReceived)
            if isOver, isWhole { return self.complete() }
            let failure = HTTPTransportError(reportedBy: error, after: progress, through: self.client.proxy)
            self.exchange.end(.failure(failure))
        }
        let isEnded = state.withLock { state in
            if state.attempts == attempt, !state.isEnded { state.task = task }
            return state.isEnded
        }
        if isEnded { task.cancel() }
    }

    func demand() { state.withLock { $0.demand.take() }?.succeed() }

    /// The response is whole.
    func complete() {
        let fields = note.end?.trailers
        exchange.end(.success(fields.map { NetworkCore.HTTPHeaders($0.map { ($0.name, $0.value) }) } ?? [:]))
    }

    func end(_ error: (any Error)?) {
        let before = state.withLock { state in
            defer { state = State(isEnded: true) }
            return state
        }
        if let channel = note.channel { client.freed(channel.eventLoop) }
        before.upload?.task.cancel()
        before.upload?.queue.end()
        client.log?.remove(note)
        // Before the task: AsyncHTTPClient then fulfils what it holds the sender back with.
        before.upload?.end.fail(error ?? CancellationError())
        if let task = before.task, error != nil || before.upload != nil { task.cancel() }
        before.demand?.fail(error ?? CancellationError())
        // Its request has not ended, and never will.
        if before.upload != nil, error == nil { note.channel?.close(promise: nil) }
    }
}

// What AsyncHTTPClient reports.
extension AsyncHTTPClientDriver: HTTPClientResponseDelegate {
    typealias Response = Void

    func didSendRequestHead(task: HTTPClient.Task<Void>, _ head: NIOHTTP1.HTTPRequestHead) {
        exchange.markSending()
        request.onEvent?(HTTPTransportEvent(.connected))
    }

    func didSendRequestPart(task: HTTPClient.Task<Void>, _ part: IOData) {
        exchange.reportSent(more: part.readableBytes)
    }

    func didVisitURL(task: HTTPClient.Task<Void>, _: HTTPClient.Request, _ head: NIOHTTP1.HTTPResponseHead) {
        guard client.log == nil, (300..<400).contains(head.status.code), head.status != .notModified else { return }
        // The application's client may follow redirects, with all fields of the request. The head is the response.
        receive(head, on: task.eventLoop)
        complete()
        task.cancel()
    }

    func didReceiveHead(task: HTTPClient.Task<Void>, _ head: NIOHTTP1.HTTPResponseHead) -> EventLoopFuture<Void> {
        receive(head, on: task.eventLoop)
        return task.eventLoop.makeSucceededVoidFuture()
    }

    /// The head is delivered when all that has arrived with it is there, so that its reader is resumed once for a short
    /// response, and not for each part.
    private func receive(_ head: NIOHTTP1.HTTPResponseHead, on eventLoop: any EventLoop) {
        var fields = NetworkCore.HTTPHeaders()
        for (name, value) in head.headers { fields.appendIfValid(name, value) }
        let response = NetworkCore.HTTPResponseHead(
            status: Int(head.status.code), headers: fields, url: request.head.url)
        let version = head.version == .http2 ? "h2" : "http/\(head.version.major).\(head.version.minor)"
        let isFirst = exchange.receive(response, protocolName: version, isConnectionReused: note.isConnectionReused)
        guard isFirst else { return }
        if hasUpload {
            note.whenEndedEarly { [weak self] in
                guard let self else { return }
                eventLoop.execute { self.endEarly(on: eventLoop) }
            }
        }
        eventLoop.execute { self.exchange.deliverHead() }
    }

    /// Ends an exchange whose response is there, and whose server does not want the rest of the request. What has
    /// arrived is delivered first: some of it in this turn of the event loop, so it ends when one has brought nothing.
    private func endEarly(on eventLoop: any EventLoop, received: Int64? = nil) {
        let isUploading = state.withLock { $0.upload != nil && $0.demand == nil }
        guard isUploading else { return }
        let now = exchange.progress.bytesReceived
        guard now == received else { return eventLoop.execute { self.endEarly(on: eventLoop, received: now) } }
        complete()
    }

    func didReceiveBodyPart(task: HTTPClient.Task<Void>, _ buffer: ByteBuffer) -> EventLoopFuture<Void> {
        // Made first: the reader may read before the exchange has said that the server must wait.
        let promise = task.eventLoop.makePromise(of: Void.self)
        let isEnded = state.withLock { state in
            if !state.isEnded { state.demand = promise }
            return state.isEnded
        }
        let isHeld = exchange.receive(Data(buffer.readableBytesView)) { deliver in task.eventLoop.execute(deliver) }
        if isEnded { promise.succeed() } else if !isHeld { demand() }
        return promise.futureResult
    }

    func didFinishRequest(task: HTTPClient.Task<Void>) throws { complete() }
}
#endif
