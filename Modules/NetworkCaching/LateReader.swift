import Foundation
import NetworkCore

/// Reads a body that is read for several callers, when all of it is there.
final class LateReader: @unchecked Sendable {  // one reader calls `next`, one call at a time
    private var bodies: AsyncThrowingStream<HTTPBody, any Error>.Iterator
    private var body: HTTPBody.AsyncIterator?

    init(_ bodies: AsyncThrowingStream<HTTPBody, any Error>) {
        self.bodies = bodies.makeAsyncIterator()
    }

    @Sendable func next() async throws -> Data? {
        if body == nil {
            // The stream ends without a body only where the task is cancelled.
            guard let found = try await bodies.next() else { throw CancellationError() }
            body = found.makeAsyncIterator()
        }
        return try await body?.next()
    }
}
