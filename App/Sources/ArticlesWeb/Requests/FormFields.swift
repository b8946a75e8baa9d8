import Foundation
import HTTPTypes
import Hummingbird
import MultipartForms

struct FormFields: Sendable, Equatable {
    /// The texts by name; the first one of a name counts.
    private(set) var texts: [String: String] = [:]

    /// The chosen files by name. A field without a chosen file has none.
    private(set) var files: [String: Data] = [:]

    /// Whether a form was larger than the limit. It has no fields then.
    private(set) var isTooLarge = false

    subscript(_ name: String) -> String { texts[name] ?? "" }

    /// Reads the body of a request.
    ///
    /// A body above the limit is read and discarded: a browser shows the response only after it has sent all.
    init(_ request: Request, upTo limit: Int) async throws {
        var body = Data()
        var count = 0
        for try await buffer in request.body {
            count += buffer.readableBytes
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

    private mutating func readPairs(_ text: String) throws {
        for pair in text.split(separator: "&") {
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

    private mutating func readParts(of body: Data, _ boundary: String) throws {
        let parts: [MultipartPart]
        do {
            parts = try MultipartParser.parts(
                of: body, boundary: boundary, maximumParts: 16, maximumHeaderBytes: 8 * 1024)
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
