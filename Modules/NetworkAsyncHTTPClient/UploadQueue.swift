#if AsyncHTTPClient
import AsyncHTTPClient
import ConcurrencyPrimitives
import Foundation
import NIOCore

/// The parts of a body that AsyncHTTPClient has and the connection has not written yet. Their number is bounded: the
/// sender, which is a task, waits while the queue is full, and goes on when half of it is written.
final class UploadQueue: Sendable {
    /// The size of the parts in which a body is handed to AsyncHTTPClient.
    static let partSize = 64 * 1_024
    /// The queue is full when it has so many bytes.
    private static let limit = 4 * partSize

    private struct State {
        var unwritten = 0
        /// The sender that waits until no more than some bytes are unwritten.
        var sender: (bound: Int, continuation: CheckedContinuation<Bool, Never>)?
        var isEnded = false
    }

    private let writer: HTTPClient.Body.StreamWriter
    private let state = Locked(State())

    init(_ writer: HTTPClient.Body.StreamWriter) { self.writer = writer }

    /// Adds a piece, a large one part by part, and waits until there is room for another one. Returns `false`: the
    /// exchange has ended. AsyncHTTPClient may then never tell whether it has written.
    func add(_ piece: Data) async -> Bool {
        var rest = piece
        while !rest.isEmpty {
            guard let unwritten = write(rest.prefix(Self.partSize)) else { return false }
            rest = rest.dropFirst(Self.partSize)
            if unwritten >= Self.limit, await !isWritten(downTo: Self.limit / 2) { return false }
        }
        return true
    }

    /// Waits until all is written. Returns what ``add(_:)`` does.
    func finish() async -> Bool { await isWritten(downTo: 0) }

    /// The exchange has ended.
    func end() {
        let sender = state.withLock { state in
            defer { state = State(isEnded: true) }
            return state.sender
        }
        sender?.continuation.resume(returning: false)
    }

    private func isWritten(downTo bound: Int) async -> Bool {
        await withCheckedContinuation { continuation in
            let result = state.withLock { state -> Bool? in
                if state.isEnded { return false }
                if state.unwritten <= bound { return true }
                state.sender = (bound, continuation)
                return nil
            }
            if let result { continuation.resume(returning: result) }
        }
    }

    /// Hands a part to AsyncHTTPClient. Returns the bytes that are not written. `nil`: the exchange has ended.
    private func write(_ part: Data) -> Int? {
        let unwritten = state.withLock { state -> Int? in
            guard !state.isEnded else { return nil }
            state.unwritten += part.count
            return state.unwritten
        }
        guard let unwritten else { return nil }
        let written = writer.write(.byteBuffer(ByteBuffer(bytes: part)))
        #if DEBUG
        // NIO ends the process for a future that is released before it is fulfilled.
        let kept = Unmanaged.passRetained(written)
        written.whenComplete { _ in kept.release() }
        #endif
        let count = part.count
        written.whenComplete { result in
            guard case .success = result else { return self.end() }
            let sender = self.state.withLock { state -> CheckedContinuation<Bool, Never>? in
                state.unwritten -= count
                guard let sender = state.sender, state.unwritten <= sender.bound else { return nil }
                state.sender = nil
                return sender.continuation
            }
            sender?.resume(returning: true)
        }
        return unwritten
    }
}
#endif
