import ConcurrencyPrimitives

import struct Foundation.Data

/// Hands the pieces of a body to one reader.
final class OneReader: Sendable {
    private let make: Locked<(@Sendable () throws -> HTTPBody.Pull)?>

    init(_ make: @escaping @Sendable () throws -> HTTPBody.Pull) {
        self.make = Locked(make)
    }

    /// Hands out the pieces.
    ///
    /// - Throws: ``HTTPBodyError`` with code `alreadyRead` from the second call on.
    func take() throws -> HTTPBody.Pull {
        let make = make.withLock { make in
            defer { make = nil }
            return make
        }
        guard let make else { throw HTTPBodyError.alreadyRead }
        return try make()
    }
}

/// Reads a sequence of any kind. ``HTTPBody/AsyncIterator`` is the one that calls it, one call at a time.
final class SequenceReader<Pieces: AsyncSequence>: @unchecked Sendable  // used by one iterator, which is not `Sendable`
where Pieces.Element == Data {
    private var iterator: Pieces.AsyncIterator

    init(_ pieces: Pieces) {
        iterator = pieces.makeAsyncIterator()
    }

    @Sendable func next() async throws -> Data? {
        try await iterator.next()
    }
}
