public import AuthInterface

/// Why a body cannot be read. It names no path and no content.
public struct HTTPBodyError: Error, Sendable, Hashable {
    /// The reasons.
    public typealias Code = ErrorCode<HTTPBodyError>

    /// The reason.
    public let code: Code

    /// What is wrong and what to do.
    public let reason: String

    package static let alreadyRead = Self(
        code: .alreadyRead,
        reason: "the body can be read once and has been read; make it of a closure to read it again")
    static let unreadable = Self(code: .unreadable, reason: "the file to send cannot be read, or is no regular file")
    package static let changedFile = Self(code: .wrongLength, reason: "the file changed while it was read")
    static let wrongLength = Self(
        code: .wrongLength, reason: "the body has another number of bytes than its length says")
    static let unknownLength = Self(code: .tooLong, reason: "the body has more bytes than a length can say")

    static func tooLong(_ limit: Int) -> Self { Self(code: .tooLong, reason: "the body has more than \(limit) bytes") }
}

extension ErrorCode<HTTPBodyError> {
    /// The body can be read once and has been read (G21).
    public static var alreadyRead: Self { Self(rawValue: "alreadyRead") }

    /// The file is not there, is no regular file, or cannot be read.
    public static var unreadable: Self { Self(rawValue: "unreadable") }

    /// The body has another number of bytes than it said.
    public static var wrongLength: Self { Self(rawValue: "wrongLength") }

    /// The body has more bytes than are kept.
    public static var tooLong: Self { Self(rawValue: "tooLong") }
}

extension HTTPBodyError: CustomStringConvertible {
    /// What is wrong and what to do.
    public var description: String { reason }
}
