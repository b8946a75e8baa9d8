public import Foundation

/// Why a photo could not be fitted.
///
/// Decide by ``code``, show ``message``. Codes may be added: keep a default branch when switching over them.
public struct ImagingError: Error, Sendable {
    /// What went wrong, as a value to compare with.
    public struct Code: RawRepresentable, Sendable, Hashable {
        /// The code as text, stable enough for logs.
        public let rawValue: String

        /// Codecs from elsewhere may add codes of their own.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The bytes are not a picture of any kind known here.
        public static let notAnImage = Code(rawValue: "notAnImage")
        /// A picture, but of a format the codec does not read.
        public static let unsupportedFormat = Code(rawValue: "unsupportedFormat")
        /// The header claims more pixels than ``FittingPolicy/maximumSourcePixels``; nothing was decoded.
        public static let tooManyPixels = Code(rawValue: "tooManyPixels")
        /// The file is larger than ``FittingPolicy/maximumSourceBytes``; nothing was read.
        public static let sourceTooLarge = Code(rawValue: "sourceTooLarge")
        /// Even the lowest quality is larger than ``FittingPolicy/maximumBytes``.
        public static let cannotFit = Code(rawValue: "cannotFit")
        /// The policy itself cannot be followed, whatever the picture.
        public static let invalidPolicy = Code(rawValue: "invalidPolicy")
        /// This build has no codec.
        public static let codecUnavailable = Code(rawValue: "codecUnavailable")
        /// The picture is damaged, cut off, or too unusual for the codec.
        public static let decodingFailed = Code(rawValue: "decodingFailed")
        /// The codec could not write the JPEG.
        public static let encodingFailed = Code(rawValue: "encodingFailed")
    }

    /// What went wrong.
    public var code: Code
    /// One line in English that says what happened and what to do. Never holds bytes of the picture.
    public var message: String
    /// The size in bytes that was too much: the file's for `sourceTooLarge`, the smallest JPEG reached for `cannotFit`.
    public var bytes: Int?
    /// The size in pixels that the picture's header claims, as stored, where the header could be read.
    public var sourceSize: PixelSize?
    /// The error underneath, where a codec passes one on.
    public var cause: (any Error)?

    /// An error of a codec that lives outside this module.
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
