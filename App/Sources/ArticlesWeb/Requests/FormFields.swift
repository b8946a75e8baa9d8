import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// The fields of a form, as a browser sends them.
struct FormFields: Sendable, Equatable {
    /// The most fields of a form.
    static let fieldLimit = 16

    /// The texts by name; the first one of a name counts.
    private(set) var texts: [String: String] = [:]

    /// The chosen files by name. A field without a chosen file has none.
    private(set) var files: [String: Data] = [:]

    /// Whether a form was larger than the limit. It has no fields then.
    private(set) var isTooLarge = false

    subscript(_ name: String) -> String { texts[name] ?? "" }

    /// Reads the body of a request.
    ///
    /// A body above the limit is read and discarded, up to a second limit: a browser shows the response only after it
    /// has sent all.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - limit: The largest body, in bytes.
    /// - Throws: `HTTPError` for a form that cannot be read.
    init(_ request: Request, upTo limit: Int) async throws {
        var body = Data()
        var count = 0
        for try await buffer in request.body {
            count += buffer.readableBytes
            guard count <= Self.discardLimit else { throw HTTPError(.contentTooLarge) }
            if count <= limit { body.append(contentsOf: buffer.readableBytesView) } else { body = Data() }
        }
        guard count <= limit else {
            isTooLarge = true
            return
        }
        let type = request.headers[.contentType] ?? ""
        if let boundary = Self.boundary(in: type) {
            try readParts(of: body, boundary)
        } else if type.lowercased().hasPrefix("application/x-www-form-urlencoded") {
            try readPairs(String(decoding: body, as: UTF8.self))
        } else {
            throw HTTPError(.unsupportedMediaType)
        }
    }

    /// The most bytes of a body that are read and discarded: 1 GiB.
    private static let discardLimit = 1024 * 1024 * 1024

    // MARK: application/x-www-form-urlencoded

    private mutating func readPairs(_ text: String) throws {
        let pairs = text.split(separator: "&")
        guard pairs.count <= Self.fieldLimit else { throw HTTPError(.badRequest) }
        for pair in pairs {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(parts[0]), let value = Self.decoded(parts.count > 1 ? parts[1] : "") else {
                throw HTTPError(.badRequest)
            }
            add(name, value)
        }
    }

    private static func decoded(_ text: Substring) -> String? {
        text.replacing("+", with: " ").removingPercentEncoding
    }

    /// Browsers send the line breaks of a text as CR LF.
    private mutating func add(_ name: String, _ value: String) {
        if texts[name] == nil { texts[name] = value.replacing("\r\n", with: "\n") }
    }

    // MARK: multipart/form-data (RFC 7578)

    private static func boundary(in type: String) -> String? {
        let parts = type.split(separator: ";").map(\.trimmingWhitespace)
        guard parts.first?.lowercased() == "multipart/form-data" else { return nil }
        let parameter = parts.first { $0.lowercased().hasPrefix("boundary=") }?.dropFirst("boundary=".count)
        guard let parameter else { return nil }
        let boundary = parameter.hasPrefix("\"") ? parameter.dropFirst().prefix { $0 != "\"" } : parameter
        // The most characters of a boundary (RFC 2046, section 5.1.1).
        return (1...70).contains(boundary.utf8.count) ? String(boundary) : nil
    }

    private mutating func readParts(of body: Data, _ boundary: String) throws {
        let delimiter = Data("\r\n--\(boundary)".utf8)
        let lineBreak = Data("\r\n".utf8)
        // The first delimiter has no line break before it.
        let body = lineBreak + body
        guard var end = Self.range(of: delimiter, in: body[...])?.upperBound else { throw HTTPError(.badRequest) }
        for _ in 0...Self.fieldLimit {
            if body[end...].starts(with: Data("--".utf8)) { return }
            guard let next = Self.range(of: delimiter, in: body[end...]),
                let head = body[end..<next.lowerBound].range(of: lineBreak + lineBreak)
            else { throw HTTPError(.badRequest) }
            let fields = String(decoding: body[end..<head.lowerBound], as: UTF8.self)
            try addPart(fields, body[head.upperBound..<next.lowerBound])
            end = next.upperBound
        }
        throw HTTPError(.badRequest)
    }

    /// The next delimiter. A line that only begins like one is content.
    private static func range(of delimiter: Data, in body: Data) -> Range<Data.Index>? {
        var rest = body
        while let found = rest.range(of: delimiter) {
            let after = rest[found.upperBound...]
            if after.starts(with: Data("\r\n".utf8)) || after.starts(with: Data("--".utf8)) { return found }
            rest = after
        }
        return nil
    }

    private mutating func addPart(_ fields: String, _ content: Data) throws {
        let disposition = fields.split(separator: "\r\n").first {
            $0.lowercased().hasPrefix("content-disposition:")
        }
        guard let disposition, let name = Self.parameter("name", of: disposition) else {
            throw HTTPError(.badRequest)
        }
        guard let file = Self.parameter("filename", of: disposition) else {
            return add(name, String(decoding: content, as: UTF8.self))
        }
        if !file.isEmpty || !content.isEmpty, files[name] == nil { files[name] = Data(content) }
    }

    private static func parameter(_ name: String, of field: Substring) -> String? {
        guard let start = field.range(of: "; \(name)=\"")?.upperBound else { return nil }
        return String(field[start...].prefix { $0 != "\"" })
    }
}
