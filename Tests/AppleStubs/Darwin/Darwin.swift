// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Dispatch
public import Foundation

// The part of Darwin, and of Foundation on Apple platforms, that our code calls, so that it can be typechecked without
// an Apple SDK. It does nothing and is part of no product. It shows that our code and this stub agree, not that the
// stub and the system do.

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
    public func performExpiringActivity(
        withReason reason: String,
        using block: @escaping @Sendable (_ expired: Bool) -> Void
    ) {}
}

extension URL {
    public static var applicationSupportDirectory: URL { URL(fileURLWithPath: "/") }
}

public let O_EVTONLY: Int32 = 0x8000

public protocol DispatchSourceFileSystemObject: DispatchSourceProtocol, AnyObject {
    var data: DispatchSource.FileSystemEvent { get }
}

extension DispatchSource {
    public static func makeFileSystemObjectSource(
        fileDescriptor: Int32,
        eventMask: FileSystemEvent,
        queue: DispatchQueue? = nil
    ) -> any DispatchSourceFileSystemObject { fatalError("a stub") }
}

extension stat {
    public var st_mtimespec: timespec { st_mtim }
}
