// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Dispatch
public import Foundation

// As much of Darwin, and of what Foundation has on Apple's systems only, as our Apple-only code calls, so that it can be
// typechecked where there is no Apple SDK. It does nothing, is part of no product, and shows only that the interfaces
// were read the same way twice.

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
