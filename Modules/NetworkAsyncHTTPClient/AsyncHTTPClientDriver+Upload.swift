#if AsyncHTTPClient
import AsyncHTTPClient
import AuthInterface
import ConcurrencyPrimitives
import Foundation
import NIOCore
import NIOHTTP1
import NetworkCore
import NetworkExchange

// What is sent.
extension AsyncHTTPClientDriver {
    /// The size of the pieces in which a body is handed over.
    private static let pieceSize = 64 * 1_024
    /// After this many bytes the sender waits until they are written: each wait is a switch between threads.
    private static let writesAtOnce = 4 * pieceSize

    func httpRequest() throws -> HTTPClient.Request {
        let head = request.head
        // NIO looks at each name that is added to its own list. These are tokens.
        var fields: [(String, String)] = []
        fields.reserveCapacity(head.headers.count + 4)
        for field in head.headers { fields.append((field.name, field.value)) }
        // What the transport's own connections decode. An application's client says itself what it decodes.
        if client.log != nil, head.headers.first(of: "Accept-Encoding") == nil {
            fields.append(("Accept-Encoding", "deflate, gzip"))
        }
        if let mark = try announce() { fields.append(mark) }
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
        return body.trailers != nil || !(body.isEmpty || body.data.map { $0.count <= Self.pieceSize } ?? false)
    }

    private var body: HTTPClient.Body? {
        guard hasUpload else {
            return request.body.data.flatMap { $0.isEmpty ? nil : .byteBuffer(ByteBuffer(bytes: $0)) }
        }
        // Only chunks can be followed by trailers (RFC 9112 §7.1.2).
        let length = request.body.trailers == nil ? request.body.length : nil
        return .stream(contentLength: length) { [weak self] writer in
            let eventLoop = self?.client.client.eventLoopGroup.any()
            guard let self, let eventLoop else { preconditionFailure("the driver is kept while its task runs") }
            let end = eventLoop.makePromise(of: Void.self)
            let isEnded = self.state.withLock { state in
                guard !state.isEnded else { return true }
                // Under the lock: a body without a byte ends at once, and looks for its entry.
                state.upload = Upload(task: Task { await self.send(through: writer, end: end) }, end: end)
                return false
            }
            if isEnded { end.fail(CancellationError()) }
            return end.futureResult
        }
    }

    /// Leaves a note for the connection, where it has to know something.
    ///
    /// - Returns: The field that marks the request. `nil`: there is nothing to know.
    private func announce() throws -> (name: String, value: String)? {
        let (permit, hasTrailers) = (request.startPermit, request.body.trailers != nil)
        guard permit != nil || hasTrailers else { return nil }
        guard let notes = client.log?.requests else {
            guard !hasTrailers else {
                throw HTTPTransportError(.invalidRequest, reason: "an HTTP client that is shared cannot send trailers")
            }
            return nil
        }
        let (number, mark) = notes.announce(.init(trailers: hasTrailers ? [:] : nil, permit: permit))
        state.withLock { $0.noteNumber = number }
        return mark
    }

    private func makeTrailers() async throws {
        guard let make = request.body.trailers, let number = state.withLock({ $0.noteNumber }) else { return }
        let fields = try HTTPRequestHead.validTrailers(try await make())
        client.log?.requests.set(NIOHTTP1.HTTPHeaders(fields.map { ($0.name, $0.value) }), for: number)
    }

    /// Waits until more may be written.
    ///
    /// - Returns: `false`: the exchange has ended. AsyncHTTPClient may then never fulfil the future.
    private func isWritten(_ written: EventLoopFuture<Void>) async -> Bool {
        await withCheckedContinuation { continuation in
            let isEnded = state.withLock { state in
                if !state.isEnded { state.writer = continuation }
                return state.isEnded
            }
            guard !isEnded else { return continuation.resume(returning: false) }
            written.whenComplete { [weak self] result in
                let writer = self?.state.withLock { state in
                    defer { state.writer = nil }
                    return state.writer
                }
                writer?.resume(returning: (try? result.get()) != nil)
            }
        }
    }

    private func write(_ part: ByteBuffer, through writer: HTTPClient.Body.StreamWriter) -> EventLoopFuture<Void> {
        let written = writer.write(.byteBuffer(part))
        #if DEBUG
        // NIO ends the process for a future that is released before it is fulfilled.
        let kept = Unmanaged.passRetained(written)
        written.whenComplete { _ in kept.release() }
        #endif
        return written
    }

    private func send(through writer: HTTPClient.Body.StreamWriter, end: EventLoopPromise<Void>) async {
        do {
            var last: EventLoopFuture<Void>?
            var unwritten = 0
            for try await piece in request.body {
                var rest = piece[...]
                while !rest.isEmpty {
                    let part = ByteBuffer(bytes: rest.prefix(Self.pieceSize))
                    rest = rest.dropFirst(Self.pieceSize)
                    unwritten += part.readableBytes
                    let written = write(part, through: writer)
                    last = written
                    guard unwritten >= Self.writesAtOnce else { continue }
                    // It fails when the exchange has ended, or the server has responded before the end of the body and
                    // does not read on. The response, or the error, is reported elsewhere.
                    guard await isWritten(written) else { return }
                    (last, unwritten) = (nil, 0)
                }
            }
            if let last, !(await isWritten(last)) { return }
            try await makeTrailers()
        } catch {
            return exchange.cancel(error is CancellationError ? error : HTTPTransportError(sending: error))
        }
        let isMine = state.withLock { state in
            defer { state.upload = nil }
            return state.upload != nil
        }
        if isMine { end.succeed() }
    }
}
#endif
