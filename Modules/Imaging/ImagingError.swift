public import Foundation

/// Why a photo could not be fitted.
///
/// Compare ``code``, and show ``message``. The set of codes grows: keep a default branch in a switch.
public struct ImagingError: Error, Sendable {
    /// The kind of an error.
    public struct Code: RawRepresentable, Sendable, Hashable {
        /// The code as text, for logs.
        public let rawValue: String

        /// Creates a code. Other codecs can have codes of their own.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The bytes are not a picture of a known format.
        public static let notAnImage = Code(rawValue: "notAnImage")
        /// The codec does not read the format of the picture.
        public static let unsupportedFormat = Code(rawValue: "unsupportedFormat")
        /// The header has more pixels than ``FittingPolicy/maximumSourcePixels``. Nothing was decoded.
        public static let tooManyPixels = Code(rawValue: "tooManyPixels")
        /// The file is larger than ``FittingPolicy/maximumSourceBytes``. Nothing was read.
        public static let sourceTooLarge = Code(rawValue: "sourceTooLarge")
        /// The JPEG is larger than ``FittingPolicy/maximumBytes`` at every quality.
        public static let cannotFit = Code(rawValue: "cannotFit")
        /// No picture can meet the policy.
        public static let invalidPolicy = Code(rawValue: "invalidPolicy")
        /// This build has no codec.
        public static let codecUnavailable = Code(rawValue: "codecUnavailable")
        /// The picture is damaged, cut off, or not supported by the codec.
        public static let decodingFailed = Code(rawValue: "decodingFailed")
        /// The codec could not write the JPEG.
        public static let encodingFailed = Code(rawValue: "encodingFailed")
    }

    /// The kind of the error.
    public var code: Code
    /// One line in English: what happened, and what to do. It has no bytes of the picture.
    public var message: String
    /// The size in bytes that exceeds the limit: the file's for `sourceTooLarge`, the smallest JPEG's for `cannotFit`.
    public var bytes: Int?
    /// The size in the picture's header, as stored, if the header could be read.
    public var sourceSize: PixelSize?
    /// The underlying error of a codec.
    public var cause: (any Error)?

    /// Creates an error, for your own codec.
    public init(
        _ code: Code, _ message: String, bytes: Int? = nil, sourceSize: PixelSize? = nil, cause: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.bytes = bytes
        self.sourceSize = sourceSize
        self.cause = cause
    }
}

extension ImagingError: LocalizedError, CustomStringConvertible {
    /// The message, for alerts.
    public var errorDescription: String? { message }

    /// Code and message on one line, for logs.
    public var description: String { "\(code.rawValue): \(message)" }
}
