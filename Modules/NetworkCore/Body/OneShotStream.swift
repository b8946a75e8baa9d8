import Foundation

/// A stream that can be taken once.
final class OneShotStream: @unchecked Sendable {  // `stream` is accessed under `lock`, and taken once
    private let lock = NSLock()
    private var stream: InputStream?

    init(_ stream: sending InputStream) {
        self.stream = stream
    }

    /// Takes the stream.
    ///
    /// - Throws: ``NetworkError`` with code `bodyNotReplayable` from the second call on.
    func take() throws -> InputStream {
        lock.lock()
        defer { lock.unlock() }
        guard let stream else {
            throw NetworkError(.bodyNotReplayable, reason: "the body is a one-shot stream, which has been sent before")
        }
        self.stream = nil
        return stream
    }
}
