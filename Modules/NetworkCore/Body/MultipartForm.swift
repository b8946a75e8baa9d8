public import AuthInterface
public import Foundation

/// Fields and files in one body (`multipart/form-data`, RFC 7578).
///
/// ```swift
/// var form = MultipartForm()
/// form.append("name", "Ada")
/// form.append("image", data: photo, filename: "photo.jpg", contentType: "image/jpeg")
/// ```
///
/// A form of up to 1 MiB is encoded in memory. A larger one is read in pieces while it is sent, so that its size costs
/// no memory.
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

    /// The boundary between the parts. It is random, so that content does not contain it by accident.
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
    ///   - name: The name of the field.
    ///   - value: The value, sent as UTF-8.
    public mutating func append(_ name: String, _ value: String) {
        parts.append(Part(name: name, filename: nil, contentType: nil, content: .data(Data(value.utf8))))
    }

    /// Appends bytes as a file.
    ///
    /// - Parameters:
    ///   - name: The name of the field.
    ///   - data: The bytes.
    ///   - filename: The name of the file.
    ///   - contentType: The media type.
    public mutating func append(_ name: String, data: Data, filename: String, contentType: String) {
        parts.append(Part(name: name, filename: filename, contentType: contentType, content: .data(data)))
    }

    /// Appends a file, read when the form is sent.
    ///
    /// - Parameters:
    ///   - name: The name of the field.
    ///   - file: The file. It must not change before the call has ended.
    ///   - filename: The name of the file. `nil`: the last component of its path.
    ///   - contentType: The media type.
    public mutating func append(_ name: String, file: URL, filename: String? = nil, contentType: String) {
        let filename = filename ?? file.lastPathComponent
        parts.append(Part(name: name, filename: filename, contentType: contentType, content: .file(file)))
    }

    var contentType: String { "multipart/form-data; boundary=\(boundary)" }
}

extension MultipartForm: RedactedDescription {
    /// The number of parts; never their content (G17).
    public var description: String { "MultipartForm(parts: \(parts.count))" }
}
