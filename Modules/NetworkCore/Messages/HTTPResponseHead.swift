public import AuthInterface
public import Foundation

/// The head of a response: everything before its body.
public struct HTTPResponseHead: Sendable, Hashable {
    /// The status code (RFC 9110 §15).
    public let status: Int

    /// The header fields.
    public let headers: HTTPHeaders

    /// The URL of the response, after redirects. `nil`: the transport does not know it.
    public let url: URL?

    /// Creates a head.
    public init(status: Int, headers: HTTPHeaders = [:], url: URL? = nil) {
        self.status = status
        self.headers = headers
        self.url = url
    }

    /// The date of the response on the server's clock (`Date`, RFC 9110 §6.6.1). `nil`: it has none, or was kept by a
    /// cache, whose date tells when the server wrote it.
    public var serverDate: Date? { isKept ? nil : headers["Date"].flatMap(HTTPDate.recent) }

    /// Whether a cache had kept the response for a second or longer (`Age`, RFC 9111 §5.1).
    var isKept: Bool { headers["Age"].map { $0 != "0" } ?? false }
}

extension HTTPResponseHead: RedactedDescription {
    /// The status and the names of the header fields; never a value.
    public var description: String { "\(status) \(headers)" }
}

extension HTTPResponseHead {
    /// How long a response may take whose date sets a clock.
    package static let dateTolerance: Duration = .seconds(5)

    /// The length of the body according to `Content-Length` (RFC 9110 §8.6). It is 0 for the response to a `HEAD` and
    /// for 304, whose field is the length that a `GET` would return, and for 204.
    func bodyLength(to request: HTTPRequestHead) -> Int? {
        guard request.method != .head, status != 204, status != 304 else { return 0 }
        // Equal lengths may be repeated; see `lengthProblem`.
        let length = headers.first(of: "Content-Length")?.utf8.prefix { $0 != UInt8(ascii: ",") }
        return length.flatMap { Int(Substring($0)) }
    }

    /// What is wrong with `Content-Length`: it is no number of bytes, or there are two that differ (RFC 9112 §6.3).
    package var lengthProblem: String? {
        let fields = headers.values(of: "Content-Length")
        guard let first = fields.first else { return nil }
        if fields.count == 1, Self.isLength(first) { return nil }
        let lengths = fields.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }
            .map { String($0).withoutSurroundingWhiteSpace }
        guard Set(lengths).count == 1 else { return "it has two Content-Length values" }
        return Self.isLength(lengths[0]) ? nil : Self.noLength
    }

    /// Why a response is none whose length cannot be read.
    package static let noLength = "its Content-Length is no number of bytes"

    /// Whether a text is a number of bytes.
    package static func isLength(_ text: String) -> Bool { text.utf8.allSatisfy { $0.isDigit } && Int(text) != nil }

    /// Refuses a head whose fields contradict each other: two lengths (RFC 9112 §6.3) or two targets of a redirect. A
    /// platform that joins repeated fields leaves a comma and a space, which neither a length nor a URL contains. The
    /// `Location` of a response that is no redirect is information, and says nothing of where a request goes.
    ///
    /// - Throws: ``NetworkError`` with code `invalidResponse`.
    func validate() throws {
        if let problem = lengthProblem { throw NetworkError(.invalidResponse, reason: problem, response: self) }
        guard RedirectPolicy.statuses.contains(status) else { return }
        let locations = headers.values(of: "Location")
        guard locations.count <= 1, locations.first?.contains(", ") != true else {
            throw NetworkError(.invalidResponse, reason: "it has two Location fields", response: self)
        }
    }
}

/// A response with its whole body.
public struct HTTPResponse: Sendable, Hashable {
    /// Status, header fields and URL.
    public let head: HTTPResponseHead

    /// The body.
    public let body: Data

    /// Creates a response.
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
