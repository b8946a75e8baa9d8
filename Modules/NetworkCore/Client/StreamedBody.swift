import struct Foundation.Data

/// The body of a streamed response. Its errors are the call's own.
struct StreamedBody: AsyncSequence, Sendable {
    typealias Element = Data

    let body: HTTPBody
    let head: HTTPResponseHead
    let call: CallState

    func makeAsyncIterator() -> Iterator {
        Iterator(pieces: body.makeAsyncIterator(), head: head, call: call)
    }

    struct Iterator: AsyncIteratorProtocol {
        var pieces: HTTPBody.AsyncIterator
        let head: HTTPResponseHead
        let call: CallState

        mutating func next() async throws -> Data? {
            do {
                return try await pieces.next()
            } catch let error as HTTPTransportError {
                try Task.checkCancellation()
                throw try call.failure(NetworkError(error, reading: head))
            }
        }
    }
}
