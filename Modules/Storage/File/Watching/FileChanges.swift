import AuthInterface
import ConcurrencyPrimitives
import Foundation

/// One stream of ``FileTokenStore/changes``.
///
/// It watches the folder of the file, or the nearest folder above until the next one on the path is created. The stream
/// ends when the folder is removed, renamed or unmounted. It ends at once if changes are not reported: on network file
/// systems, and when the system has no more watches.
final class FileChanges: Sendable {
    private struct Target: Equatable {
        let folder: String
        let name: String
        let isLast: Bool
    }

    private struct State {
        var subscription: FolderWatcher.Subscription?
        var target: Target?
        var hasEnded = false
    }

    private let folder: String
    private let anchor: String
    private let name: String
    private let continuation: AsyncStream<Void>.Continuation
    private let state = Locked(State())

    private init(_ folder: TokenFolder, _ name: String, _ continuation: AsyncStream<Void>.Continuation) {
        self.folder = folder.path
        anchor = folder.anchor
        self.name = name
        self.continuation = continuation
    }

    /// Makes a stream. Every write to the file after the return is reported.
    static func stream(of name: String, in folder: TokenFolder) -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let changes = FileChanges(folder, name, continuation)
        continuation.onTermination = { _ in changes.end() }
        if !changes.attach() { continuation.finish() }
        return stream
    }

    /// Watches the folder, or the nearest one above it.
    ///
    /// - Returns: Whether that was possible.
    private func attach() -> Bool {
        state.withLock { state in
            guard !state.hasEnded else { return true }
            while true {
                guard let target = nearestTarget() else { return false }
                if target == state.target { return true }
                let subscription = FolderWatcher.shared.subscribe(to: target.folder, target.name) { [weak self] event in
                    self?.receive(event, at: target)
                }
                state.subscription.map(FolderWatcher.shared.unsubscribe)
                state.subscription = subscription
                state.target = target
                if subscription == nil { return false }
            }
        }
    }

    private func receive(_ event: FolderWatcher.Event, at target: Target) {
        guard state.withLock({ $0.target == target }) else { return }
        switch event {
        case .ended: continuation.finish()
        case .changed where target.isLast: continuation.yield()
        case .changed:
            if attach() { continuation.yield() } else { continuation.finish() }
        }
    }

    private func end() {
        state.withLock { state in
            state.hasEnded = true
            state.subscription.map(FolderWatcher.shared.unsubscribe)
            state.subscription = nil
        }
    }

    /// The nearest existing folder, and the name to watch in it.
    private func nearestTarget() -> Target? {
        var path = folder
        var next = name
        var status = stat()
        while stat(path, &status) != 0 {
            // Behind a link that leads nowhere, nothing is reported when its disk is mounted.
            guard errno == ENOENT, path != anchor, path.count > 1, lstat(path, &status) != 0 else { return nil }
            next = (path as NSString).lastPathComponent
            path = (path as NSString).deletingLastPathComponent
        }
        guard FileSystemKind(device: UInt64(status.st_dev)) != .network else { return nil }
        return Target(folder: path, name: next, isLast: path == folder)
    }
}
