public import Foundation

/// Fields and files in one body (`multipart/form-data`, RFC 7578; row N11).
///
/// ```swift
/// var form = MultipartForm()
/// form.append("name", "Ada")
/// form.append("image", data: photo, filename: "photo.jpg", contentType: "image/jpeg")
/// ```
///
/// A form is encoded in memory while it is small and read as a stream when it is large, with files in pieces: its size
/// on disk costs no memory.
public struct MultipartForm: Sendable {
    struct Part: Sendable {
        enum Content: Sendable {
            case data(Data)
            case file(URL)
        }

        let name: String
        let filename: String?
        let contentType: String?
        let content: Content
    }

    private(set) var parts: [Part] = []

    /// The line that separates the parts. It is random, so that no content can contain it by accident.
    let boundary: String

    /// Creates an empty form.
    public init() {
        self.init(boundary: "latchkey-\(UUID().uuidString)")
    }

    init(boundary: String) {
        self.boundary = boundary
    }

    /// Appends a text field.
    ///
    /// - Parameters:
    ///   - name: The field's name.
    ///   - value: The field's value, sent as UTF-8.
    public mutating func append(_ name: String, _ value: String) {
        parts.append(Part(name: name, filename: nil, contentType: nil, content: .data(Data(value.utf8))))
    }

    /// Appends bytes as a file.
    ///
    /// - Parameters:
    ///   - name: The field's name.
    ///   - data: The bytes.
    ///   - filename: The name the file is given.
    ///   - contentType: The media type.
    public mutating func append(_ name: String, data: Data, filename: String, contentType: String) {
        parts.append(Part(name: name, filename: filename, contentType: contentType, content: .data(data)))
    }

    /// Appends a file, read when the form is sent.
    ///
    /// - Parameters:
    ///   - name: The field's name.
    ///   - file: The file. It must stay unchanged until the request is done.
    ///   - filename: The name the file is given; its own if left out.
    ///   - contentType: The media type.
    public mutating func append(_ name: String, file: URL, filename: String? = nil, contentType: String) {
        let filename = filename ?? file.lastPathComponent
        parts.append(Part(name: name, filename: filename, contentType: contentType, content: .file(file)))
    }

    var contentType: String { "multipart/form-data; boundary=\(boundary)" }
}

extension MultipartForm: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The number of parts; never their content (G17).
    public var description: String { "MultipartForm(parts: \(parts.count))" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Shows `dump` and debuggers what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["parts": parts.count], displayStyle: .struct) }
}
