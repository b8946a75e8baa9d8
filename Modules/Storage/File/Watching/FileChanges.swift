import AuthInterface
import ConcurrencyPrimitives
import Foundation

/// One stream of ``FileTokenStore/changes``.
///
/// It watches the folder of the file. Where there is none yet, it watches the nearest folder above, until the next one
/// on the way is made. The stream ends when the folder is removed, renamed or unmounted, and is over from the start
/// where changes are not reported: on network file systems, and when the system has no more watches.
final class FileChanges: Sendable {
    private struct Place: Equatable {
        let folder: String
        let name: String
        let isLast: Bool
    }

    private struct State {
        var subscription: FolderWatcher.Subscription?
        var place: Place?
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

    /// Makes a stream. Each write to the file after the return is reported.
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
                guard let place = nearest() else { return false }
                if place == state.place { return true }
                let subscription = FolderWatcher.shared.subscribe(to: place.folder, place.name) { [weak self] event in
                    self?.receive(event, at: place)
                }
                state.subscription.map(FolderWatcher.shared.unsubscribe)
                state.subscription = subscription
                state.place = place
                if subscription == nil { return false }
            }
        }
    }

    private func receive(_ event: FolderWatcher.Event, at place: Place) {
        guard state.withLock({ $0.place == place }) else { return }
        switch event {
        case .ended: continuation.finish()
        case .changed where place.isLast: continuation.yield()
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

    /// The folder to watch, and the name in it to look for.
    private func nearest() -> Place? {
        var path = folder
        var next = name
        var status = stat()
        while stat(path, &status) != 0 {
            guard errno == ENOENT, path != anchor, path.count > 1 else { return nil }
            next = (path as NSString).lastPathComponent
            path = (path as NSString).deletingLastPathComponent
        }
        guard FileSystemKind(device: UInt64(status.st_dev)) != .network else { return nil }
        return Place(folder: path, name: next, isLast: path == folder)
    }
}
