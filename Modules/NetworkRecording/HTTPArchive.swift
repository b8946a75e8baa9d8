public import Foundation
import NetworkCore

/// Recorded exchanges in the format of browsers' developer tools: HAR 1.2.
public struct HTTPArchive: Sendable, Hashable, Codable {
    /// Everything that was recorded.
    public var log: Log

    /// Creates an archive.
    public init(entries: [Entry] = []) {
        log = Log(version: "1.2", creator: Creator(name: "Latchkey", version: "1"), entries: entries)
    }

    /// The archive as a HAR file.
    ///
    /// - Throws: `EncodingError`.
    public func encoded() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }

    /// The exchanges, with who recorded them.
    public struct Log: Sendable, Hashable, Codable {
        var version: String
        var creator: Creator
        /// The exchanges, in order.
        public var entries: [Entry]
    }

    struct Creator: Sendable, Hashable, Codable {
        var name: String
        var version: String
    }

    /// One exchange.
    public struct Entry: Sendable, Hashable, Codable {
        /// When it started, in ISO 8601.
        var startedDateTime: String
        /// What it took, in milliseconds.
        var time: Double
        /// The request.
        public var request: Request
        /// The response. Its status is 0 if there was none.
        public var response: Response
        /// What a browser's cache did. It is empty.
        var cache: [String: String] = [:]
        /// The phases.
        var timings: Timings
        /// Why there was no response, or an incomplete one.
        public var comment: String?

        init(startedDateTime: String, request: Request) {
            self.startedDateTime = startedDateTime
            self.request = request
            time = 0
            response = Response(status: 0)
            timings = Timings()
        }
    }
}

extension HTTPArchive {
    /// A name and a value: a field, an item of a query.
    public struct Pair: Sendable, Hashable, Codable {
        /// The name.
        public var name: String
        /// The value.
        public var value: String
    }

    /// A request.
    public struct Request: Sendable, Hashable, Codable {
        /// The method.
        public var method: String
        /// The URL.
        public var url: String
        var httpVersion = ""
        /// They are among the fields.
        var cookies: [Pair] = []
        /// The header fields.
        public var headers: [Pair] = []
        var queryString: [Pair] = []
        /// The body.
        public var postData: PostData?
        /// -1: not known.
        var headersSize = -1
        /// The bytes of the body; -1: not known.
        public var bodySize = -1
    }

    /// The body of a request.
    public struct PostData: Sendable, Hashable, Codable {
        var mimeType: String
        /// The text. It is empty where the body was not kept.
        public var text: String
        /// What the body was, where it was not kept.
        public var comment: String?
    }

    /// A response.
    public struct Response: Sendable, Hashable, Codable {
        /// The status; 0: there was no response.
        public var status: Int
        var statusText = ""
        var httpVersion = ""
        /// They are among the fields.
        var cookies: [Pair] = []
        /// The header fields.
        public var headers: [Pair] = []
        /// The body.
        public var content = Content()
        var redirectURL = ""
        /// -1: not known.
        var headersSize = -1
        /// The bytes of the body; -1: not known.
        public var bodySize = -1
    }

    /// The body of a response.
    public struct Content: Sendable, Hashable, Codable {
        /// The bytes.
        public var size = 0
        var mimeType = ""
        /// The text, or the bytes in base64. `nil`: it was not kept.
        public var text: String?
        /// `base64`, or `nil` for text.
        public var encoding: String?
        /// What the body was, where it was not kept.
        public var comment: String?
    }

    /// The phases of an exchange in milliseconds; -1: not known.
    struct Timings: Sendable, Hashable, Codable {
        /// The wait for a connection.
        var blocked: Double?
        var send: Double = 0
        /// From the request to the head of the response.
        var wait: Double = 0
        /// From the head to the end of the body.
        var receive: Double = 0
    }
}
