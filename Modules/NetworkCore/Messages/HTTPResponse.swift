public import Foundation

/// The head of a response: everything before its body.
public struct HTTPResponseHead: Sendable, Hashable {
    /// The status code (RFC 9110 §15).
    public let status: Int

    /// The header fields.
    public let headers: HTTPHeaders

    /// The address that answered, after redirects. `nil` where the transport does not know it.
    public let url: URL?

    /// Creates a head.
    ///
    /// - Parameters:
    ///   - status: The status code.
    ///   - headers: The header fields.
    ///   - url: The address that answered.
    public init(status: Int, headers: HTTPHeaders = [:], url: URL? = nil) {
        self.status = status
        self.headers = headers
        self.url = url
    }

    /// The instant of the answer on the server's clock (the `Date` field, RFC 9110 §6.6.1), where it says.
    public var serverDate: Date? { headers["Date"].flatMap(HTTPDate.init)?.date }
}

extension HTTPResponseHead: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The status and the names of the header fields; never a value.
    public var description: String { "\(status) \(headers)" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Shows `dump` and debuggers what ``description`` shows.
    public var customMirror: Mirror {
        Mirror(self, children: ["status": status, "headers": headers], displayStyle: .struct)
    }
}

/// A whole response.
public struct HTTPResponse: Sendable, Hashable {
    /// Status, header fields and address.
    public let head: HTTPResponseHead

    /// The body.
    public let body: Data

    /// Creates a response.
    ///
    /// - Parameters:
    ///   - head: Status, header fields and address.
    ///   - body: The body.
    public init(head: HTTPResponseHead, body: Data = Data()) {
        self.head = head
        self.body = body
    }

    /// The status code.
    public var status: Int { head.status }

    /// The header fields.
    public var headers: HTTPHeaders { head.headers }
}

extension HTTPResponse: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The head and the size of the body; never its content.
    public var description: String { "\(head), \(body.count) bytes" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Shows `dump` and debuggers what ``description`` shows.
    public var customMirror: Mirror {
        Mirror(self, children: ["head": head, "bytes": body.count], displayStyle: .struct)
    }
}
