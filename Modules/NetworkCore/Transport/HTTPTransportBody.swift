public import AuthInterface
public import Foundation

/// The body that a transport sends: every ``RequestBody`` becomes one of four forms.
///
/// The header fields of the request contain `Content-Type`. The transport adds the length.
public enum HTTPTransportBody: Sendable {
    /// No body.
    case none

    /// Bytes in memory.
    case data(Data)

    /// A file that is read in pieces.
    case file(URL)

    /// A stream that is created once for this exchange. A length of `nil` is not known.
    case stream(length: Int64?, make: @Sendable () throws -> InputStream)
}

extension HTTPTransportBody: RedactedDescription {
    /// The kind of body, never its content (G17).
    public var description: String {
        switch self {
        case .none: "none"
        case .data(let data): "\(data.count) bytes"
        case .file: "file"
        case .stream: "stream"
        }
    }
}

extension HTTPTransportBody {
    var isEmpty: Bool {
        if case .none = self { true } else { false }
    }

    /// The number of bytes. `nil`: it is not known.
    var length: Int64? {
        switch self {
        case .none: 0
        case .data(let data): Int64(data.count)
        case .file(let url): try? BodyFileError.size(of: url)
        case .stream(let length, _): length
        }
    }
}
