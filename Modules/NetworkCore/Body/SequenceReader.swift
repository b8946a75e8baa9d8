import Foundation

/// Reads a sequence of any kind. ``HTTPBody/AsyncIterator`` is the one that calls it, one call at a time.
final class SequenceReader<Pieces: AsyncSequence>: @unchecked Sendable  // used by one iterator, which is not `Sendable`
where Pieces.Element == Data {
    private var iterator: Pieces.AsyncIterator

    init(_ pieces: Pieces) { iterator = pieces.makeAsyncIterator() }

    @Sendable func next() async throws -> Data? { try await iterator.next() }
}
