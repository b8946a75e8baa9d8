import AuthInterface
import ConcurrencyPrimitives

public import struct Foundation.Data

/// One answer: its head, and its body as it arrives.
public struct HTTPTransportResponse: Sendable {
    /// Status, header fields and address.
    public let head: HTTPResponseHead

    /// The body, piece by piece. Whoever lets go of it before its end ends the exchange.
    public let body: HTTPResponseBody

    /// Creates an answer.
    ///
    /// - Parameters:
    ///   - head: Status, header fields and address.
    ///   - body: The body.
    public init(head: HTTPResponseHead, body: HTTPResponseBody = HTTPResponseBody()) {
        self.head = head
        self.body = body
    }
}

/// The body of an answer, piece by piece, to be read once and by one reader.
///
/// It throws ``HTTPTransportError`` when the body breaks off, and `CancellationError` when the task that reads is
/// cancelled.
public struct HTTPResponseBody: AsyncSequence, Sendable {
    /// A piece of the body.
    public typealias Element = Data

    private let pull: @Sendable () async throws -> Data?

    /// A body whose pieces are asked for one by one, so that a slow reader can slow the sender down.
    ///
    /// - Parameter pull: Waits for the next piece; `nil` is the end of the body, and only its real end. When it is
    ///   let go of, nobody will read on.
    public init(pull: @escaping @Sendable () async throws -> Data?) {
        self.pull = pull
    }

    /// A body that is in memory already.
    ///
    /// - Parameter data: The body.
    public init(_ data: Data = Data()) {
        let rest = Locked<Data?>(data.isEmpty ? nil : data)
        self.init {
            rest.withLock { rest in
                defer { rest = nil }
                return rest
            }
        }
    }

    /// Starts reading.
    ///
    /// - Returns: The iterator.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pull: pull) }

    /// Reads the pieces.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let pull: @Sendable () async throws -> Data?

        /// Waits for the next piece.
        ///
        /// - Returns: The piece, or `nil` at the end of the body.
        /// - Throws: ``HTTPTransportError`` when the body breaks off; `CancellationError`.
        public mutating func next() async throws -> Data? {
            try Task.checkCancellation()
            return try await pull()
        }
    }
}
