#if AsyncHTTPClient
import AsyncHTTPClient
import ConcurrencyPrimitives
import Foundation
import NIOCore
import NIOHTTP1
import NetworkCore

// What is sent.
extension AsyncHTTPClientExchange {
    /// The size of the pieces in which a body is handed over.
    private static let pieceSize = 64 * 1_024

    func httpRequest() throws -> HTTPClient.Request {
        let head = request.head
        var fields = NIOHTTP1.HTTPHeaders()
        fields.reserveCapacity(head.headers.count + 3)
        for field in head.headers { fields.add(name: field.name, value: field.value) }
        do {
            return try HTTPClient.Request(
                url: head.url, method: NIOHTTP1.HTTPMethod(rawValue: head.method.rawValue), headers: fields, body: body)
        } catch {
            throw HTTPTransportError(.invalidRequest, reason: "the URL cannot be used")
        }
    }

    private var body: HTTPClient.Body? {
        guard !request.body.isEmpty else { return nil }
        if let data = request.body.data, data.count <= Self.pieceSize { return .byteBuffer(ByteBuffer(bytes: data)) }
        return .stream(contentLength: request.body.length) { [weak self] writer in
            let eventLoop = self?.client.client.eventLoopGroup.any()
            guard let self, let eventLoop else { preconditionFailure("the exchange is kept while its task runs") }
            let end = eventLoop.makePromise(of: Void.self)
            let task = Task { await self.send(through: writer, end: end) }
            let isOver = self.state.withLock { state in
                guard state.end == nil else { return true }
                state.upload = Upload(task: task, end: end)
                return false
            }
            if isOver {
                task.cancel()
                end.fail(CancellationError())
            }
            return end.futureResult
        }
    }

    private func send(through writer: HTTPClient.Body.StreamWriter, end: EventLoopPromise<Void>) async {
        do {
            for try await piece in request.body {
                var rest = piece[...]
                while !rest.isEmpty {
                    let part = ByteBuffer(bytes: rest.prefix(Self.pieceSize))
                    rest = rest.dropFirst(Self.pieceSize)
                    // It fails when the exchange has ended, or the server has responded before the end of the body and
                    // does not read on. The response, or the error, is reported elsewhere.
                    guard (try? await writer.write(.byteBuffer(part)).get()) != nil else { return }
                }
            }
        } catch {
            return fail(error is CancellationError ? error : HTTPTransportError(sending: error))
        }
        let isMine = state.withLock { state in
            defer { state.upload = nil }
            return state.upload != nil
        }
        if isMine { end.succeed() }
    }
}
#endif
