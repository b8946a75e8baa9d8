#if canImport(Darwin)
import AuthInterface
import Dispatch
import Foundation

/// Reports changes in folders, by one source of Dispatch for each subscription.
///
/// The kernel reports that a folder has changed, not which file: changes of other files are reported too.
final class FolderWatcher: Sendable {
    static let shared = FolderWatcher()

    struct Subscription: @unchecked Sendable {  // a source of Dispatch may be cancelled on any thread
        fileprivate let source: any DispatchSourceFileSystemObject
    }

    private let queue = DispatchQueue(label: "token-folder-watching")

    /// Starts to report what happens in a folder. Every change after the return is reported.
    ///
    /// It follows no symbolic link. `receive` is called on a queue of the watcher, with one event at a time. `nil`: the
    /// folder cannot be watched.
    func subscribe(
        to folder: String, _ name: String, isFolder: Bool = false, _ receive: @escaping Receive
    ) -> Subscription? {
        let file = open(folder, O_EVTONLY | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        let source = DispatchSource.makeFileSystemObjectSource(
            fileDescriptor: file, eventMask: [.write, .delete, .rename, .revoke], queue: queue)
        source.setEventHandler { [unowned source] in
            receive(source.data.isDisjoint(with: [.delete, .rename, .revoke]) ? .changed : .ended)
        }
        source.setCancelHandler { close(file) }
        source.activate()
        return Subscription(source: source)
    }

    /// Ends a subscription. An event that is already being delivered may still be received.
    func unsubscribe(_ subscription: Subscription) { subscription.source.cancel() }
}
#endif
