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
    /// The parts of a body that AsyncHTTPClient has not taken.
    struct Unwritten {
        var parts: [ByteBuffer] = []
        var bytes = 0
        /// Whether the event loop takes parts until there is none.
        var isWriting = false
        /// Whether AsyncHTTPClient takes no more.
        var isRefused = false
    }

    /// The size of the pieces in which a body is handed over.
    private static let pieceSize = 64 * 1_024
    /// From this many bytes on that AsyncHTTPClient has not taken, the sender waits: each wait is a switch between
    /// threads.
    private static let mostUnwritten = 4 * pieceSize

    func httpRequest() throws -> HTTPClient.Request {
        let head = request.head
        var fields = NIOHTTP1.HTTPHeaders()
        fields.reserveCapacity(head.headers.count + 4)
        for field in head.headers { fields.add(name: field.name, value: field.value) }
        // What the transport's own connections decode. An application's client says itself what it decodes.
        if client.log != nil, head.headers.first(of: "Accept-Encoding") == nil {
            fields.add(name: "Accept-Encoding", value: "deflate, gzip")
        }
        try announce(in: &fields)
        do {
            return try HTTPClient.Request(
                url: head.url, method: NIOHTTP1.HTTPMethod(rawValue: head.method.rawValue), headers: fields, body: body)
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
    private func announce(in fields: inout NIOHTTP1.HTTPHeaders) throws {
        let (permit, hasTrailers) = (request.startPermit, request.body.trailers != nil)
        guard permit != nil || hasTrailers else { return }
        guard let notes = client.log?.requests else {
            guard !hasTrailers else {
                throw HTTPTransportError(.invalidRequest, reason: "an HTTP client that is shared cannot send trailers")
            }
            return
        }
        let number = notes.announce(.init(trailers: hasTrailers ? [:] : nil, permit: permit), in: &fields)
        state.withLock { $0.noteNumber = number }
    }

    private func makeTrailers() async throws {
        guard let make = request.body.trailers, let number = state.withLock({ $0.noteNumber }) else { return }
        let fields = try HTTPRequestHead.validTrailers(try await make())
        client.log?.requests.set(NIOHTTP1.HTTPHeaders(fields.map { ($0.name, $0.value) }), for: number)
    }

    /// Hands a part to the event loop, and waits while too much is not taken.
    ///
    /// The event loop is woken where it writes nothing. Where it does, it finds the part when it has written the
    /// others, so that the next parts are made meanwhile, and no thread wakes another one for each.
    ///
    /// - Returns: `false`: no more is wanted. The exchange has ended, or the server has responded before the end of the
    ///   body and does not read on. The response, or the error, is reported elsewhere.
    private func handOver(
        _ part: ByteBuffer, through writer: HTTPClient.Body.StreamWriter, on eventLoop: any EventLoop
    ) async -> Bool {
        let wakes = state.withLock { state in
            guard state.takesParts else { return false }
            state.unwritten.parts.append(part)
            state.unwritten.bytes += part.readableBytes
            defer { state.unwritten.isWriting = true }
            return !state.unwritten.isWriting
        }
        if wakes { eventLoop.execute { self.writeNext(through: writer, on: eventLoop) } }
        return await wait { $0.unwritten.bytes >= Self.mostUnwritten }
    }

    /// Waits until a condition no longer holds.
    ///
    /// - Returns: `false`: no more is wanted.
    private func wait(while isHeld: @Sendable (State) -> Bool) async -> Bool {
        while state.withLock({ $0.takesParts && isHeld($0) }) {
            await withCheckedContinuation { continuation in
                let waits = state.withLock { state in
                    guard state.takesParts, isHeld(state) else { return false }
                    state.writer = continuation
                    return true
                }
                if !waits { continuation.resume() }
            }
        }
        return state.withLock { $0.takesParts }
    }

    /// Writes all parts that are there, and again when AsyncHTTPClient takes more, until there is none.
    private func writeNext(through writer: HTTPClient.Body.StreamWriter, on eventLoop: any EventLoop) {
        let (parts, sender) = state.withLock { state in
            let parts = state.unwritten.parts
            defer { (state.unwritten, state.writer) = (Unwritten(isWriting: !parts.isEmpty), nil) }
            return (parts, state.writer)
        }
        sender?.resume()
        var written: EventLoopFuture<Void>?
        for part in parts { written = write(part, through: writer) }
        written?.whenComplete { [weak self] result in
            guard let self else { return }
            if case .success = result {
                return eventLoop.execute { self.writeNext(through: writer, on: eventLoop) }
            }
            let sender = state.withLock { state in
                defer { (state.unwritten.isRefused, state.writer) = (true, nil) }
                return state.writer
            }
            sender?.resume()
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
            let eventLoop = end.futureResult.eventLoop
            for try await piece in request.body {
                var rest = piece[...]
                while !rest.isEmpty {
                    let part = ByteBuffer(bytes: rest.prefix(Self.pieceSize))
                    rest = rest.dropFirst(Self.pieceSize)
                    guard await handOver(part, through: writer, on: eventLoop) else { return }
                }
            }
            guard await wait(while: { $0.unwritten.isWriting }) else { return }
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

extension AsyncHTTPClientDriver.State {
    /// Whether parts of the body are still wanted.
    fileprivate var takesParts: Bool { !isEnded && !unwritten.isRefused }
}
#endif
