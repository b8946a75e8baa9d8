#if AsyncHTTPClient
import AsyncHTTPClient
import ConcurrencyPrimitives
import Foundation
import NIOCore

/// The bytes of a body between their sender, which is a task, and the event loop that writes them.
///
/// The sender hands over each piece as soon as it has it, and the event loop takes all that are there: so a piece that
/// comes alone is sent at once, and pieces that come faster than they are written rarely wake a thread. The event loop
/// copies them, as its processor then has in its cache what it writes next.
final class UploadQueue: Sendable {
    /// The size of the parts in which a body is handed to AsyncHTTPClient.
    static let partSize = 64 * 1_024
    /// The sender waits while so many bytes wait for the event loop.
    private static let limit = 4 * partSize
    /// After so many bytes the event loop does something else first.
    private static let mostAtOnce = 4 * limit

    private enum Wait { case untilTaken, untilWritten }

    private struct State {
        var pieces: [Data] = []
        var count = 0
        /// Whether the event loop writes, or is about to.
        var isWriting = false
        /// How many bytes it has taken since it did something else.
        var atOnce = 0
        var sender: (wait: Wait, continuation: CheckedContinuation<Bool, Never>)?
        var isEnded = false

        mutating func takeSender(_ wait: Wait) -> CheckedContinuation<Bool, Never>? {
            guard let found = sender, found.wait == wait else { return nil }
            sender = nil
            return found.continuation
        }
    }

    private let writer: HTTPClient.Body.StreamWriter
    private let eventLoop: any EventLoop
    private let state = Locked(State())

    init(_ writer: HTTPClient.Body.StreamWriter, on eventLoop: any EventLoop) {
        (self.writer, self.eventLoop) = (writer, eventLoop)
    }

    /// Hands over a piece, a large one little by little, and waits until there is room for another one.
    ///
    /// - Returns: `false`: the exchange has ended. AsyncHTTPClient may then never tell whether it has written.
    func add(_ piece: Data) async -> Bool {
        var rest = piece
        while !rest.isEmpty {
            guard await handOver(rest.prefix(Self.limit)) else { return false }
            rest = rest.dropFirst(Self.limit)
        }
        return true
    }

    private func handOver(_ piece: Data) async -> Bool {
        let (begins, isFull) = state.withLock { state in
            guard !state.isEnded else { return (false, true) }
            state.pieces.append(piece)
            state.count += piece.count
            let begins = !state.isWriting
            if begins { (state.isWriting, state.atOnce) = (true, 0) }
            return (begins, state.count >= Self.limit)
        }
        if begins { eventLoop.execute { self.write() } }
        return isFull ? await wait(.untilTaken) : true
    }

    /// Waits until all is written.
    ///
    /// - Returns: As ``add(_:)``.
    func finish() async -> Bool { await wait(.untilWritten) }

    /// The exchange has ended.
    func end() {
        let sender = state.withLock { state in
            defer { state = State(isEnded: true) }
            return state.sender
        }
        sender?.continuation.resume(returning: false)
    }

    private func wait(_ wait: Wait) async -> Bool {
        await withCheckedContinuation { continuation in
            let result = state.withLock { state -> Bool? in
                if state.isEnded { return false }
                if wait == .untilTaken ? state.count < Self.limit : !state.isWriting { return true }
                state.sender = (wait, continuation)
                return nil
            }
            if let result { continuation.resume(returning: result) }
        }
    }

    // MARK: On the event loop

    private func write() {
        let (pieces, count, sender) = state.withLock { state in
            state.atOnce += state.count
            defer { (state.pieces, state.count) = ([], 0) }
            return (state.pieces, state.count, state.takeSender(.untilTaken))
        }
        sender?.resume(returning: true)
        var (part, left) = (ByteBuffer(), count)
        for piece in pieces {
            var rest = piece[...]
            while !rest.isEmpty {
                if part.capacity == 0 { part.reserveCapacity(min(left, Self.partSize)) }
                let taken = rest.prefix(Self.partSize - part.readableBytes)
                part.writeBytes(taken)
                rest = rest.dropFirst(taken.count)
                left -= taken.count
                guard left == 0 || part.readableBytes == Self.partSize else { continue }
                write(part, isLast: left == 0)
                part = ByteBuffer()
            }
        }
    }

    /// Writes a part, and after the last one what has come since. Once in a while that comes back from another thread:
    /// an event loop looks for what has arrived, here and on other connections, only when it has no task left.
    private func write(_ part: ByteBuffer, isLast: Bool) {
        let written = writer.write(.byteBuffer(part))
        #if DEBUG
        // NIO ends the process for a future that is released before it is fulfilled.
        let kept = Unmanaged.passRetained(written)
        written.whenComplete { _ in kept.release() }
        #endif
        guard isLast else { return }
        written.whenComplete { result in
            guard case .success = result else { return self.end() }
            let (isMore, isEnough, sender) = self.state.withLock { state in
                state.isWriting = !state.pieces.isEmpty
                let isEnough = state.atOnce >= Self.mostAtOnce
                if isEnough { state.atOnce = 0 }
                return (state.isWriting, isEnough, state.isWriting ? nil : state.takeSender(.untilWritten))
            }
            sender?.resume(returning: true)
            guard isMore else { return }
            let goOn = { @Sendable in self.eventLoop.execute { self.write() } }
            if isEnough { Task { goOn() } } else { goOn() }
        }
    }
}
#endif
