import Foundation
import HTTPTypes
import Hummingbird
import MultipartForms
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
        let type = request.headers[.contentType].flatMap { ParameterizedValue($0) }
        switch type?.value.lowercased() {
        case "multipart/form-data": try readParts(of: body, type?.parameters["boundary"] ?? "")
        case "application/x-www-form-urlencoded": try readPairs(String(decoding: body, as: UTF8.self))
        default: throw HTTPError(.unsupportedMediaType)
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

    /// The most bytes of the header fields of a part.
    private static let headerLimit = 8 * 1024

    private mutating func readParts(of body: Data, _ boundary: String) throws {
        let parts: [MultipartPart]
        do {
            parts = try MultipartParser.parts(
                of: body, boundary: boundary, maximumParts: Self.fieldLimit, maximumHeaderBytes: Self.headerLimit)
        } catch {
            throw HTTPError(.badRequest)
        }
        for part in parts {
            let name = part.header.name
            guard let file = part.header.filename else {
                add(name, String(decoding: part.content, as: UTF8.self))
                continue
            }
            if !file.isEmpty || !part.content.isEmpty, files[name] == nil { files[name] = part.content }
        }
    }
}
