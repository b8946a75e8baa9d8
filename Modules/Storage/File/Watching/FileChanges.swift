import AuthInterface
import ConcurrencyPrimitives
import Dispatch
import Foundation

/// One stream of ``FileTokenStore/changes``, or of a journal's.
///
/// It watches the folder of the file, or the nearest folder above until the next one on the path is created. The stream
/// ends as those of the store do, and at once when the system has no more watches.
///
/// A disk that does not respond blocks a queue of its folder only: no task, and no stream of another folder.
final class FileChanges: Sendable {
    private struct Target: Equatable {
        let folder: String
        let name: String
        let isLast: Bool
    }

    private struct State {
        var subscription: FolderWatcher.Subscription?
        var target: Target?
        var isEnded = false
    }

    /// The queues of the folders that have streams, on which the file system is called.
    private static let queues = Locked<[String: (queue: DispatchQueue, streams: Int)]>([:])

    private let folder: String
    private let anchor: String
    private let name: String
    private let queue: DispatchQueue
    private let continuation: AsyncStream<Void>.Continuation
    private let state = Locked(State())

    private init(_ folder: TokenFolder, _ name: String, _ continuation: AsyncStream<Void>.Continuation) {
        self.folder = folder.path
        anchor = folder.anchor
        self.name = name
        queue = Self.borrowQueue(of: folder.path)
        self.continuation = continuation
    }

    /// Makes a stream. Every write to the file after the return is reported; the first report comes when later ones can
    /// be, and stands for the writes before.
    static func stream(of name: String, in folder: TokenFolder) -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let changes = FileChanges(folder, name, continuation)
        continuation.onTermination = { _ in changes.end() }
        changes.queue.async { changes.attach() }
        return stream
    }

    /// The queue of a folder, which all its streams share.
    static func borrowQueue(of folder: String) -> DispatchQueue {
        queues.withLock { queues in
            let (queue, streams) = queues[folder] ?? (DispatchQueue(label: "token-folder-opening"), 0)
            queues[folder] = (queue, streams + 1)
            return queue
        }
    }

    static func returnQueue(of folder: String) {
        queues.withLock { queues in
            guard let (queue, streams) = queues[folder] else { return }
            queues[folder] = streams > 1 ? (queue, streams - 1) : nil
        }
    }

    /// Watches the folder, or the nearest one above it, and reports what may have changed until then. Ends the stream
    /// if that is not possible. On the folder's queue.
    private func attach() {
        while !state.withLock({ $0.isEnded }) {
            guard let target = nearestTarget() else { return continuation.finish() }
            if state.withLock({ $0.target == target }) {
                continuation.yield()
                return
            }
            let receive: FolderWatcher.Receive = { [weak self] in self?.receive($0, at: target) }
            let (watcher, isFolder) = (FolderWatcher.shared, !target.isLast)
            guard
                let subscription = watcher.subscribe(to: target.folder, target.name, isFolder: isFolder, receive)
            else { return continuation.finish() }
            let unneeded = state.withLock { state in
                if state.isEnded { return Optional(subscription) }
                defer { (state.subscription, state.target) = (subscription, target) }
                return state.subscription
            }
            unneeded.map(FolderWatcher.shared.unsubscribe)
        }
    }

    private func receive(_ event: FolderWatcher.Event, at target: Target) {
        // What comes before the target is known is reported with the first report.
        guard state.withLock({ $0.target == target }) else { return }
        switch event {
        case .ended: continuation.finish()
        case .changed where target.isLast: continuation.yield()
        case .changed: queue.async { self.attach() }
        }
    }

    private func end() {
        let subscription = state.withLock { state in
            state.isEnded = true
            return state.subscription.take()
        }
        subscription.map(FolderWatcher.shared.unsubscribe)
        Self.returnQueue(of: folder)
    }

    /// The nearest existing folder, and the name to watch in it.
    private func nearestTarget() -> Target? {
        var path = folder
        var next = name
        var status = stat()
        while stat(path, &status) != 0 {
            guard errno == ENOENT, path != anchor, path.count > 1 else { return nil }
            if lstat(path, &status) == 0 {
                // Behind a link that leads nowhere, nothing is reported when its disk is mounted.
                if status.st_mode & S_IFMT == S_IFLNK { return nil }
                continue  // it was made meanwhile
            }
            next = (path as NSString).lastPathComponent
            path = (path as NSString).deletingLastPathComponent
        }
        guard FileSystemKind(device: UInt64(status.st_dev)) != .network else { return nil }
        return Target(folder: path, name: next, isLast: path == folder)
    }
}

extension FolderWatcher {
    enum Event {
        /// A file was created, replaced or removed.
        case changed
        /// The folder was removed, renamed or unmounted: nothing more is reported.
        case ended
    }

    typealias Receive = @Sendable (Event) -> Void
}
