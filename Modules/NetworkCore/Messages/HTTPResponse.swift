public import AuthInterface
public import Foundation

/// A response with its whole body.
public struct HTTPResponse: Sendable, Hashable {
    /// Status, header fields and URL.
    public let head: HTTPResponseHead

    /// The body.
    public let body: Data

    /// Creates a response.
    ///
    /// - Parameters:
    ///   - head: Status, header fields and URL.
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

extension HTTPResponse: RedactedDescription {
    /// The head and the size of the body; never its content.
    public var description: String { "\(head), \(body.count) bytes" }
}
