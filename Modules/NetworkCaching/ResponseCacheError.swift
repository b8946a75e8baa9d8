public import AuthInterface
import Foundation

/// Why a folder cannot be used for a cache. It names no path.
public struct ResponseCacheError: Error, Sendable, Hashable {
    /// The reasons.
    public typealias Code = ErrorCode<ResponseCacheError>

    /// The reason.
    public let code: Code

    /// What is wrong and what to do.
    public let reason: String

    static let inUse = ResponseCacheError(
        code: .folderInUse,
        reason: "another cache uses the folder; use that cache, another folder, or a cache in memory"
    )

    static func unusable(_ number: Int32) -> ResponseCacheError {
        let cause = String(cString: strerror(number))
        return ResponseCacheError(
            code: .folderUnusable,
            reason: "the folder cannot be locked (\(cause)); check its permissions, or use a cache in memory"
        )
    }
}

extension ErrorCode<ResponseCacheError> {
    /// Another cache uses the folder, in this process or another one.
    public static var folderInUse: Self { Self(rawValue: "folderInUse") }

    /// The file of the folder's lock cannot be opened or locked.
    public static var folderUnusable: Self { Self(rawValue: "folderUnusable") }
}

extension ResponseCacheError: CustomStringConvertible {
    /// What is wrong and what to do.
    public var description: String { reason }
}
