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

    /// Reads an archive.
    ///
    /// - Parameter data: A HAR file, of any recorder.
    /// - Throws: `DecodingError`.
    public init(_ data: Data) throws {
        self = try JSONDecoder().decode(HTTPArchive.self, from: data)
    }

    /// The archive as a HAR file.
    ///
    /// - Returns: The file's content.
    /// - Throws: `EncodingError`.
    public func encoded() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }

    /// The exchanges, with who recorded them.
    public struct Log: Sendable, Hashable, Codable {
        /// The version of the format.
        public var version: String
        /// The program that recorded.
        public var creator: Creator
        /// The exchanges, in order.
        public var entries: [Entry]
    }

    /// A program.
    public struct Creator: Sendable, Hashable, Codable {
        /// Its name.
        public var name: String
        /// Its version.
        public var version: String
    }

    /// One exchange.
    public struct Entry: Sendable, Hashable, Codable {
        /// When it started, in ISO 8601.
        public var startedDateTime: String
        /// What it took, in milliseconds.
        public var time: Double
        /// The request.
        public var request: Request
        /// The response. Its status is 0 if there was none.
        public var response: Response
        /// What a browser's cache did. It is empty.
        public var cache: [String: String] = [:]
        /// The phases.
        public var timings: Timings
        /// Why there was no response, or an incomplete one.
        public var comment: String?

        private enum CodingKeys: String, CodingKey {
            case startedDateTime, time, request, response, timings, comment, cache
        }

        /// Reads an entry. What a browser's cache did is not read.
        ///
        /// - Throws: `DecodingError`.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            startedDateTime = try container.decode(String.self, forKey: .startedDateTime)
            time = try container.decodeIfPresent(Double.self, forKey: .time) ?? 0
            request = try container.decode(Request.self, forKey: .request)
            response = try container.decode(Response.self, forKey: .response)
            timings = try container.decodeIfPresent(Timings.self, forKey: .timings) ?? Timings()
            comment = try container.decodeIfPresent(String.self, forKey: .comment)
        }

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
        /// The protocol.
        public var httpVersion = ""
        /// They are among the fields.
        public var cookies: [Pair] = []
        /// The header fields.
        public var headers: [Pair] = []
        /// The items of the query.
        public var queryString: [Pair] = []
        /// The body.
        public var postData: PostData?
        /// -1: not known.
        public var headersSize = -1
        /// The bytes of the body; -1: not known.
        public var bodySize = -1
    }

    /// The body of a request.
    public struct PostData: Sendable, Hashable, Codable {
        /// The media type.
        public var mimeType: String
        /// The text. It is empty where the body was not kept.
        public var text: String
        /// What the body was, where it was not kept.
        public var comment: String?
    }

    /// A response.
    public struct Response: Sendable, Hashable, Codable {
        /// The status; 0: there was no response.
        public var status: Int
        /// The reason phrase.
        public var statusText = ""
        /// The protocol.
        public var httpVersion = ""
        /// They are among the fields.
        public var cookies: [Pair] = []
        /// The header fields.
        public var headers: [Pair] = []
        /// The body.
        public var content = Content()
        /// The target of a redirect.
        public var redirectURL = ""
        /// -1: not known.
        public var headersSize = -1
        /// The bytes of the body; -1: not known.
        public var bodySize = -1
    }

    /// The body of a response.
    public struct Content: Sendable, Hashable, Codable {
        /// The bytes.
        public var size = 0
        /// The media type.
        public var mimeType = ""
        /// The text, or the bytes in base64. `nil`: it was not kept.
        public var text: String?
        /// `base64`, or `nil` for text.
        public var encoding: String?
        /// What the body was, where it was not kept.
        public var comment: String?
    }

    /// The phases of an exchange in milliseconds; -1: not known.
    public struct Timings: Sendable, Hashable, Codable {
        /// The wait for a connection.
        public var blocked: Double?
        /// Sending the request.
        public var send: Double = 0
        /// From the request to the head of the response.
        public var wait: Double = 0
        /// From the head to the end of the body.
        public var receive: Double = 0
    }
}

// Only what the format requires must be there: recorders differ in the rest.
extension HTTPArchive.Request {
    /// Reads a request.
    ///
    /// - Throws: `DecodingError`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        method = try container.decode(String.self, forKey: .method)
        url = try container.decode(String.self, forKey: .url)
        headers = try container.decodeIfPresent([HTTPArchive.Pair].self, forKey: .headers) ?? []
        queryString = try container.decodeIfPresent([HTTPArchive.Pair].self, forKey: .queryString) ?? []
        httpVersion = try container.decodeIfPresent(String.self, forKey: .httpVersion) ?? ""
        bodySize = try container.decodeIfPresent(Int.self, forKey: .bodySize) ?? -1
        postData = try? container.decodeIfPresent(HTTPArchive.PostData.self, forKey: .postData)
    }
}

extension HTTPArchive.Response {
    /// Reads a response.
    ///
    /// - Throws: `DecodingError`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        status = try container.decode(Int.self, forKey: .status)
        statusText = try container.decodeIfPresent(String.self, forKey: .statusText) ?? ""
        headers = try container.decodeIfPresent([HTTPArchive.Pair].self, forKey: .headers) ?? []
        httpVersion = try container.decodeIfPresent(String.self, forKey: .httpVersion) ?? ""
        bodySize = try container.decodeIfPresent(Int.self, forKey: .bodySize) ?? -1
        redirectURL = try container.decodeIfPresent(String.self, forKey: .redirectURL) ?? ""
        content = try container.decodeIfPresent(HTTPArchive.Content.self, forKey: .content) ?? HTTPArchive.Content()
    }
}

extension HTTPArchive.Content {
    /// Reads a body.
    ///
    /// - Throws: `DecodingError`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        size = try container.decodeIfPresent(Int.self, forKey: .size) ?? 0
        mimeType = try container.decodeIfPresent(String.self, forKey: .mimeType) ?? ""
        text = try container.decodeIfPresent(String.self, forKey: .text)
        encoding = try container.decodeIfPresent(String.self, forKey: .encoding)
        comment = try container.decodeIfPresent(String.self, forKey: .comment)
    }

    /// The bytes of the body. `nil`: they were not kept, or are not valid base64.
    public var data: Data? {
        guard let text else { return nil }
        return encoding == "base64" ? Data(base64Encoded: text) : Data(text.utf8)
    }
}
