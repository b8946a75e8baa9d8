#if os(Linux)
import ConcurrencyPrimitives
import Dispatch
import Foundation

/// Reports changes in folders: one inotify descriptor for the process, however many folders and receivers there are.
///
/// The descriptor is opened at the first use and kept. A source of Dispatch reads it; no thread waits for it.
final class FolderWatcher: Sendable {
    static let shared = FolderWatcher()

    struct Subscription: Sendable {
        fileprivate let watch: Int32
        fileprivate let number: Int
    }

    private struct Receiver {
        let name: String
        let receive: Receive
    }

    private struct State {
        var file: Int32 = -1
        var source: (any DispatchSourceRead)?
        var receivers: [Int32: [Int: Receiver]] = [:]
        var last = 0
        /// How many watches were removed. A watch that is added meanwhile may be one of them.
        var removals = 0

        mutating func remove(_ watch: Int32) {
            receivers[watch] = nil
            removals += 1
            inotify_rm_watch(file, watch)
        }
    }

    /// A save renames a file over another; other programs may write in place. The creation of a file is not reported,
    /// as it is written after it. A watch that exists is added to: replacing its mask would lose the events of that
    /// instant.
    private static let mask =
        UInt32(IN_MOVED_TO) | UInt32(IN_MOVED_FROM) | UInt32(IN_CLOSE_WRITE) | UInt32(IN_DELETE)
        | UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF) | UInt32(IN_ONLYDIR) | UInt32(IN_DONT_FOLLOW)
        | UInt32(IN_MASK_ADD)

    private static let endings =
        UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF) | UInt32(IN_UNMOUNT) | UInt32(IN_IGNORED)

    private let state = Locked(State())
    private let queue = DispatchQueue(label: "token-folder-watching")

    /// Starts to report what happens to a file or folder. Every change after the return is reported.
    ///
    /// It waits for the folder's disk, and follows no symbolic link to it. The file need not exist. `receive` is called
    /// on a queue of the watcher, with one event at a time. `nil`: the folder cannot be watched.
    func subscribe(
        to folder: String, _ name: String, isFolder: Bool = false, _ receive: @escaping Receive
    ) -> Subscription? {
        while true {
            let (file, removals) = state.withLock { state in
                if state.file < 0 { open(&state) }
                return (state.file, state.removals)
            }
            guard file >= 0 else { return nil }
            // Not under the lock: the folder's disk may not respond.
            let watch = inotify_add_watch(file, folder, isFolder ? Self.mask | UInt32(IN_CREATE) : Self.mask)
            guard watch >= 0 else { return nil }
            let subscription = state.withLock { state -> Subscription? in
                guard state.removals == removals else { return nil }
                state.last += 1
                state.receivers[watch, default: [:]][state.last] = Receiver(name: name, receive: receive)
                return Subscription(watch: watch, number: state.last)
            }
            if let subscription { return subscription }
        }
    }

    /// Ends a subscription. An event that is already being delivered may still be received.
    func unsubscribe(_ subscription: Subscription) {
        state.withLock { state in
            let watch = subscription.watch
            guard state.receivers[watch]?.removeValue(forKey: subscription.number) != nil,
                state.receivers[watch]?.isEmpty == true
            else { return }
            state.remove(watch)
        }
    }

    private func open(_ state: inout State) {
        state.file = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
        guard state.file >= 0 else { return }
        let source = DispatchSource.makeReadSource(fileDescriptor: state.file, queue: queue)
        source.setEventHandler { [weak self, file = state.file] in self?.readEvents(from: file) }
        source.activate()
        state.source = source
    }

    private func readEvents(from file: Int32) {
        withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 8) { buffer in
            let count = read(file, buffer.baseAddress, buffer.count)
            if count > 0 { deliver(UnsafeRawBufferPointer(rebasing: buffer[..<count])) }
        }
    }

    private func deliver(_ events: UnsafeRawBufferPointer) {
        var offset = 0
        while offset + MemoryLayout<inotify_event>.size <= events.count {
            let event = events.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
            let start = offset + MemoryLayout<inotify_event>.size
            offset = start + Int(event.len)
            guard offset <= events.count else { return }
            let name = String(decoding: events[start..<offset].prefix { $0 != 0 }, as: UTF8.self)
            deliver(event.wd, event.mask, name)
        }
    }

    private func deliver(_ watch: Int32, _ mask: UInt32, _ name: String) {
        if mask & UInt32(IN_Q_OVERFLOW) != 0 {
            let all = state.withLock { $0.receivers.values.flatMap { $0.values.map(\.receive) } }
            for receive in all { receive(.changed) }
            return
        }
        let isEnded = mask & Self.endings != 0
        let receivers: [Receive] = state.withLock { state in
            guard let receivers = state.receivers[watch] else { return [] }
            guard isEnded else { return receivers.values.filter { $0.name == name }.map(\.receive) }
            state.remove(watch)
            return receivers.values.map(\.receive)
        }
        for receive in receivers { receive(isEnded ? .ended : .changed) }
    }
}
#endif
