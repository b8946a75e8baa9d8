import Foundation

/// A stream that is handed out once.
final class OneShotStream: @unchecked Sendable {  // `stream` is only touched under `lock`, and leaves for good
    private let lock = NSLock()
    private var stream: InputStream?

    init(_ stream: sending InputStream) {
        self.stream = stream
    }

    /// Hands out the stream.
    ///
    /// - Returns: The stream.
    /// - Throws: ``NetworkError`` with code `bodyNotReplayable` from the second call on.
    func take() throws -> InputStream {
        lock.lock()
        defer { lock.unlock() }
        guard let stream else {
            throw NetworkError(.bodyNotReplayable, reason: "the body is a one-shot stream and has been sent before")
        }
        self.stream = nil
        return stream
    }
}
