#if AsyncHTTPClient
import AsyncHTTPClient
import ConcurrencyPrimitives
import Foundation
import NIOCore
import NIOHTTP1
import NetworkCore

// What AsyncHTTPClient reports.
extension AsyncHTTPClientExchange: HTTPClientResponseDelegate {
    typealias Response = Void

    func didSendRequestHead(task: HTTPClient.Task<Void>, _ head: NIOHTTP1.HTTPRequestHead) {
        let now = clock.uptime
        state.withLock { ($0.lastActivity, $0.isSent) = (now, true) }
        request.onEvent?(HTTPTransportEvent(.connected))
    }

    func didSendRequestPart(task: HTTPClient.Task<Void>, _ part: IOData) {
        let now = clock.uptime
        let sent = state.withLock { state in
            state.lastActivity = now
            state.metrics.bytesSent += Int64(part.readableBytes)
            return state.metrics.bytesSent
        }
        guard let onEvent = request.onEvent else { return }
        onEvent(HTTPTransportEvent(.sent, progress: TransferProgress(completed: sent, total: request.body.length)))
    }

    func didVisitURL(task: HTTPClient.Task<Void>, _: HTTPClient.Request, _ head: NIOHTTP1.HTTPResponseHead) {
        guard client.log == nil, (300..<400).contains(head.status.code), head.status != .notModified else { return }
        // The application's client may follow redirects, with all fields of the request. The head is the response.
        receive(head, on: task.eventLoop)
        finish(nil, keepsPieces: true)
        task.cancel()
    }

    func didReceiveHead(
        task: HTTPClient.Task<Void>, _ head: NIOHTTP1.HTTPResponseHead
    ) -> EventLoopFuture<Void> {
        receive(head, on: task.eventLoop)
        return task.eventLoop.makeSucceededVoidFuture()
    }

    /// The head is delivered when all that has arrived with it is there, so that its reader is resumed once for a short
    /// response, and not for each part.
    private func receive(_ head: NIOHTTP1.HTTPResponseHead, on eventLoop: any EventLoop) {
        let now = clock.uptime
        var fields = head.headers
        let entry = client.log?.take(from: &fields)
        let response = NetworkCore.HTTPResponseHead(
            status: Int(head.status.code),
            headers: NetworkCore.HTTPHeaders(fields.map { ($0.name, $0.value) }),
            url: request.head.url
        )
        let isFirst = state.withLock { state in
            state.lastActivity = now
            state.metrics.toHead = now - startedAt
            state.metrics.protocolName = head.version.major == 2 ? "h2" : "http/1.\(head.version.minor)"
            state.metrics.isConnectionReused = entry?.isConnectionReused
            (state.hasHead, state.entry) = (true, entry)
            guard state.headWaiter != nil else { return false }
            state.head = response
            return true
        }
        guard isFirst else { return }
        entry?.whenEndedEarly { [weak self] in
            guard let self else { return }
            eventLoop.execute { self.endEarly(on: eventLoop) }
        }
        request.onEvent?(HTTPTransportEvent(.received, progress: TransferProgress(completed: 0, total: nil)))
        eventLoop.execute { self.deliverHead() }
    }

    /// Ends an exchange whose response is there, and whose server does not want the rest of the request. What has arrived
    /// is delivered first: some of it in this turn of the event loop, so the exchange ends when one has brought nothing.
    private func endEarly(on eventLoop: any EventLoop, received: Int64? = nil) {
        let now = state.withLock { state in
            state.end == nil && state.upload != nil && state.demand == nil ? state.metrics.bytesReceived : nil
        }
        guard let now else { return }
        guard now == received else { return eventLoop.execute { self.endEarly(on: eventLoop, received: now) } }
        finish(nil, keepsPieces: true)
    }

    private func deliverHead() {
        let (waiter, head) = state.withLock { state in
            defer { (state.headWaiter, state.head) = (nil, nil) }
            return (state.headWaiter, state.head)
        }
        if let waiter, let head { waiter.resume(returning: head) }
    }

    func didReceiveBodyPart(task: HTTPClient.Task<Void>, _ buffer: ByteBuffer) -> EventLoopFuture<Void> {
        let now = clock.uptime
        let data = Data(buffer.readableBytesView)
        guard !data.isEmpty else { return task.eventLoop.makeSucceededVoidFuture() }
        var received: Int64 = 0
        var demand: EventLoopPromise<Void>?
        let waiter = state.withLock { state -> CheckedContinuation<Data?, any Error>? in
            guard state.end == nil else { return nil }
            state.lastActivity = now
            state.metrics.bytesReceived += Int64(data.count)
            received = state.metrics.bytesReceived
            if let waiter = state.pieceWaiter {
                state.pieceWaiter = nil
                return waiter
            }
            state.pieces.append(data)
            state.unreadBytes += data.count
            guard state.unreadBytes >= unreadLimit else { return nil }
            demand = task.eventLoop.makePromise()
            state.demand = demand
            return nil
        }
        if received > 0, let onEvent = request.onEvent {
            onEvent(HTTPTransportEvent(.received, progress: TransferProgress(completed: received, total: nil)))
        }
        waiter?.resume(returning: data)
        return demand?.futureResult ?? task.eventLoop.makeSucceededVoidFuture()
    }

    func didFinishRequest(task: HTTPClient.Task<Void>) throws {
        finish(nil, keepsPieces: true)
    }
}
#endif
