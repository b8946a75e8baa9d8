import Foundation

/// One part of a multipart/form-data body (RFC 7578 §4).
struct MultipartPart: Sendable, Hashable {
    /// The `name` parameter of its Content-Disposition.
    let name: String
    /// The `filename` parameter, if any. A label, never a path to write to.
    let filename: String?
    /// The media type of its Content-Type field, if any.
    let contentType: String?
    /// Its content.
    let content: Data
}

/// Why a body is not acceptable multipart/form-data.
enum MultipartError: Error, Hashable {
    /// The Content-Type names no boundary, or one that RFC 2046 §5.1.1 does not allow.
    case invalidBoundary
    /// The opening delimiter is missing.
    case missingOpening
    /// The body ends inside a part, or without its closing delimiter.
    case truncated
    /// A delimiter is followed by something that is neither a line end nor `--`.
    case malformedDelimiter
    /// A part's header fields cannot be read.
    case malformedHeader
    /// A part's header fields exceed the limit.
    case headerTooLarge
    /// A part has no `form-data` disposition with a name.
    case missingName
    /// There are more parts than the limit.
    case tooManyParts
}
