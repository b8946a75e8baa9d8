import Foundation

/// A body in the form in which all attempts of a call send it.
struct EncodedBody: Sendable {
    let content: HTTPTransportBody
    let contentType: String?
    let isReplayable: Bool
    private let temporaryFile: URL?

    /// Encodes a body.
    ///
    /// - Throws: ``NetworkError`` with code `encodingFailed`.
    init(_ body: RequestBody, coding: JSONCoding) throws {
        contentType = body.contentType
        isReplayable = body.isReplayable
        var temporaryFile: URL?
        do {
            switch body.content {
            case .none:
                content = .none
            case .data(let data):
                content = .data(data)
            case .encoded(let encode):
                content = .data(try encode(coding))
            case .file(let url):
                try BodyFileError.check(url)
                content = .file(url)
            case .multipart(let form):
                let encoder = try MultipartEncoder(form)
                if encoder.length <= MultipartForm.memoryLimit {
                    content = .data(try encoder.data())
                } else {
                    let file = try encoder.temporaryFile()
                    temporaryFile = file
                    content = .file(file)
                }
            case .stream(let length, let make):
                content = .stream(length: length, make: make)
            case .oneShot(let length, let stream):
                content = .stream(length: length) { try stream.take() }
            }
        } catch let error as NetworkError {
            throw error
        } catch let error as BodyFileError {
            throw NetworkError(.encodingFailed, reason: error.reason)
        } catch {
            // An `EncodingError` quotes the value.
            throw NetworkError(.encodingFailed, reason: "the body cannot be encoded (\(type(of: error)))")
        }
        self.temporaryFile = temporaryFile
    }

    /// Removes the temporary file, if there is one. The body cannot be sent afterwards.
    func discard() {
        guard let temporaryFile else { return }
        // The system clears its temporary folder, so a file that cannot be removed now does no harm.
        try? FileManager.default.removeItem(at: temporaryFile)
    }
}
