/// Why a body cannot be read. It names no path and no content.
public struct HTTPBodyError: Error, Sendable, Hashable {
    /// The reasons.
    public struct Code: Sendable, Hashable, RawRepresentable {
        /// The reason as text.
        public let rawValue: String

        /// Creates a reason.
        ///
        /// - Parameter rawValue: The reason as text.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The body can be read once and has been read (G21).
        public static let alreadyRead = Code(rawValue: "alreadyRead")

        /// The file is not there, is a folder, or cannot be read.
        public static let unreadable = Code(rawValue: "unreadable")

        /// The body has another number of bytes than it said.
        public static let wrongLength = Code(rawValue: "wrongLength")

        /// The body has more bytes than are kept.
        public static let tooLong = Code(rawValue: "tooLong")
    }

    /// The reason.
    public let code: Code

    /// What is wrong and what to do.
    public let reason: String

    static let alreadyRead = HTTPBodyError(
        code: .alreadyRead,
        reason: "the body can be read once and has been read; make it of a closure to read it again"
    )
    static let unreadable = HTTPBodyError(code: .unreadable, reason: "the file to send cannot be read")
    static let changedFile = HTTPBodyError(code: .wrongLength, reason: "the file changed while it was read")
    static let wrongLength = HTTPBodyError(
        code: .wrongLength,
        reason: "the body has another number of bytes than its length says"
    )

    static func tooLong(_ limit: Int) -> HTTPBodyError {
        HTTPBodyError(code: .tooLong, reason: "the body has more than \(limit) bytes")
    }
}

extension HTTPBodyError: CustomStringConvertible {
    /// What is wrong and what to do.
    public var description: String { reason }
}
