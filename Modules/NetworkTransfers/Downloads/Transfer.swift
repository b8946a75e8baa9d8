public import NetworkCore

/// A transfer under way: its progress, and its value at the end.
///
/// ```swift
/// for try await update in network.downloading(.file(key), to: url) {
///     switch update {
///     case .progress(let progress): bar.show(progress.fraction)
///     case .finished(let file): open(file.url)
///     }
/// }
/// ```
///
/// Each iteration starts a transfer; releasing its iterator cancels it. A slow reader misses progress, never the value.
public struct Transfer<Value: Sendable>: AsyncSequence, Sendable {
    /// Progress, or the value.
    public enum Update: Sendable {
        /// The bytes so far.
        case progress(TransferProgress)

        /// The transfer succeeded. This is the last element.
        case finished(Value)
    }

    let start: @Sendable (@escaping ProgressHandler) async throws -> Value

    /// Starts a transfer.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(start) }

    /// Waits for the value.
    ///
    /// - Throws: As the transfer.
    public var value: Value {
        get async throws { try await start { _ in } }
    }

    /// Reads the updates of one transfer.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let updates: AsyncThrowingStream<Update, any Error>

        fileprivate init(_ start: @escaping @Sendable (@escaping ProgressHandler) async throws -> Value) {
            let (stream, continuation) = AsyncThrowingStream.makeStream(
                of: Update.self, bufferingPolicy: .bufferingNewest(1))
            let transfer = Task {
                do {
                    continuation.yield(.finished(try await start { continuation.yield(.progress($0)) }))
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in transfer.cancel() }
            updates = stream
        }

        /// Waits for the next update; `nil` after the value.
        ///
        /// - Throws: `NetworkError`; `CancellationError` when the task is cancelled.
        public mutating func next() async throws -> Update? {
            var iterator = updates.makeAsyncIterator()
            let update = try await iterator.next()
            // A cancelled reader sees the end of the stream.
            if update == nil { try Task.checkCancellation() }
            return update
        }
    }
}
