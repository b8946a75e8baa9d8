import ConcurrencyPrimitives

public import struct Foundation.Data

/// The body of a response as it arrives, for one reader.
///
/// It throws ``HTTPTransportError`` when the body is incomplete, and `CancellationError` when the reading task is
/// cancelled.
public struct HTTPResponseBody: AsyncSequence, Sendable {
    /// A piece of the body.
    public typealias Element = Data

    private let pull: @Sendable () async throws -> Data?

    /// Creates a body whose pieces are requested one by one, so that a slow reader can slow down the sender.
    ///
    /// - Parameter pull: Waits for the next piece. It returns `nil` at the end of a complete body only. When the closure
    ///   is released, no more pieces will be requested.
    public init(pull: @escaping @Sendable () async throws -> Data?) {
        self.pull = pull
    }

    /// Creates a body that is in memory.
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

    /// Creates the iterator.
    ///
    /// - Returns: The iterator.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pull: pull) }

    /// Reads the pieces.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let pull: @Sendable () async throws -> Data?

        /// Waits for the next piece.
        ///
        /// - Returns: The piece. `nil`: the body has ended.
        /// - Throws: ``HTTPTransportError`` when the body is incomplete; `CancellationError`.
        public mutating func next() async throws -> Data? {
            try Task.checkCancellation()
            return try await pull()
        }
    }
}
