#if AsyncHTTPClient
import AsyncHTTPClient
import ConcurrencyPrimitives
import Foundation
import NIOCore
import NIOHTTP1
import NetworkCore
import NetworkExchange

// What is sent.
extension AsyncHTTPClientDriver {
    func httpRequest() throws -> HTTPClient.Request {
        let head = request.head
        // NIO looks at each name that is added to its own list. These are tokens.
        var fields = head.headers.map { ($0.name, $0.value) }
        // What the transport's own connections decode. An application's client says itself what it decodes.
        if client.log != nil, head.headers.first(of: "Accept-Encoding") == nil {
            fields.append(("Accept-Encoding", "deflate, gzip"))
        }
        if client.log != nil, request.connectionUse.isForTokens { fields.append(("Connection", "close")) }
        if head.headers.first(of: "User-Agent") == nil { fields.append(("User-Agent", "Latchkey")) }
        if let log = client.log {
            fields.append(log.add(note))
        } else if request.body.trailers != nil {
            throw HTTPTransportError(.invalidRequest, reason: "an HTTP client that is shared cannot send trailers")
        }
        do {
            return try HTTPClient.Request(
                url: head.url, method: NIOHTTP1.HTTPMethod(rawValue: head.method.rawValue),
                headers: NIOHTTP1.HTTPHeaders(fields), body: body)
        } catch {
            throw HTTPTransportError(.invalidRequest, reason: "the URL cannot be used")
        }
    }

    /// Whether the body is sent in pieces, by a task.
    var hasUpload: Bool {
        let body = request.body
        return body.trailers != nil || !(body.isEmpty || body.data.map { $0.count <= UploadQueue.partSize } ?? false)
    }

    private var body: HTTPClient.Body? {
        guard hasUpload else {
            return request.body.data.flatMap { $0.isEmpty ? nil : .byteBuffer(ByteBuffer(bytes: $0)) }
        }
        // Only chunks can be followed by trailers (RFC 9112 §7.1.2).
        let length = request.body.trailers == nil ? request.body.length : nil
        return .stream(contentLength: length) { [weak self] writer in
            guard let self else { preconditionFailure("the driver is kept while its task runs") }
            let end = self.client.client.eventLoopGroup.any().makePromise(of: Void.self)
            let queue = UploadQueue(writer)
            let isEnded = self.state.withLock { state in
                guard !state.isEnded else { return true }
                // Under the lock: a body without a byte ends at once, and looks for its entry.
                state.upload = Upload(task: Task { await self.send(through: queue, end: end) }, queue: queue, end: end)
                return false
            }
            if isEnded { end.fail(CancellationError()) }
            return end.futureResult
        }
    }

    private func makeTrailers() async throws {
        guard let fields = try await request.body.trailers?() else { return }
        try HTTPRequestHead.validateTrailers(fields)
        note.trailers = NIOHTTP1.HTTPHeaders(fields.map { ($0.name, $0.value) })
    }

    private func send(through queue: UploadQueue, end: EventLoopPromise<Void>) async {
        do {
            for try await piece in request.body {
                // It fails when the exchange has ended, or the server has responded before the end of the body and does
                // not read on. The response, or the error, is reported elsewhere.
                guard await queue.add(piece) else { return }
            }
            guard await queue.finish() else { return }
            try await makeTrailers()
        } catch {
            return exchange.cancel(error is CancellationError ? error : HTTPTransportError(sending: error))
        }
        // Once the exchange has ended, its end is that of the body.
        if state.withLock({ $0.upload.take() }) != nil { end.succeed() }
    }
}
#endif
