// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Dispatch
public import Foundation

// The part of Darwin, and of Foundation on Apple platforms, that our code calls, so that it can be typechecked without
// an Apple SDK, and called back. It is part of no product. It shows that our code and this stub agree, not that the
// stub and the system do.
//
// Rules for every stub: a type is that of the SDK, with no `@Sendable` and no isolation that the SDK does not declare;
// a callback says on which queue it comes, and comes on another queue than the main one unless the SDK declares that.

public let F_FULLFSYNC: Int32 = 51

@discardableResult
public func sysctlbyname(
    _ name: UnsafePointer<CChar>?,
    _ old: UnsafeMutableRawPointer?,
    _ oldSize: UnsafeMutablePointer<Int>?,
    _ new: UnsafeMutableRawPointer?,
    _ newSize: Int
) -> Int32 { -1 }

extension ProcessInfo {
    /// The block comes on a thread of the system that it may block, and a second time, with `true`, on another one.
    public func performExpiringActivity(withReason reason: String, using block: @escaping (_ expired: Bool) -> Void) {
        nonisolated(unsafe) let block = block
        Thread.detachNewThread { block(false) }
        Thread.detachNewThread { block(true) }
    }
}

extension URL { public static var applicationSupportDirectory: URL { URL(fileURLWithPath: "/") } }

public let O_EVTONLY: Int32 = 0x8000

public protocol DispatchSourceFileSystemObject: DispatchSourceProtocol, AnyObject {
    var data: DispatchSource.FileSystemEvent { get }
    func activate()
}

// The overlay's methods have default arguments, and are those of its own class.
extension DispatchSourceFileSystemObject {
    public func setEventHandler(
        qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [], handler: DispatchSourceHandler?
    ) { (self as? FileSystemObjectSource)?.onEvent = handler }

    public func setCancelHandler(
        qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [], handler: DispatchSourceHandler?
    ) { (self as? FileSystemObjectSource)?.onCancel = handler }
}

extension DispatchSource {
    /// The handlers come on the queue that is given, and without one on a queue of the system.
    public static func makeFileSystemObjectSource(
        fileDescriptor: Int32, eventMask: FileSystemEvent, queue: DispatchQueue? = nil
    ) -> any DispatchSourceFileSystemObject { FileSystemObjectSource(queue: queue ?? .global()) }
}

/// Reports a change and then the removal of the folder, and the end when it is cancelled.
private final class FileSystemObjectSource: DispatchSourceFileSystemObject, @unchecked Sendable {
    // The handlers are set before the start, and `data` is used on the queue only.
    var onEvent: DispatchSourceHandler?
    var onCancel: DispatchSourceHandler?
    var data: DispatchSource.FileSystemEvent = []
    private let queue: DispatchQueue

    init(queue: DispatchQueue) { self.queue = queue }

    func activate() {
        for event in [DispatchSource.FileSystemEvent.write, .delete] {
            queue.async {
                self.data = event
                self.onEvent?()
            }
        }
    }

    func cancel() { queue.async { self.onCancel?() } }
}

extension stat { public var st_mtimespec: timespec { st_mtim } }
