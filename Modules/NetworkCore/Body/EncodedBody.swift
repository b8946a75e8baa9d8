import Foundation

/// A body made ready to be sent, once for all attempts of a call.
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
                try FileProblem.check(url)
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
        } catch let problem as FileProblem {
            throw NetworkError(.encodingFailed, reason: problem.reason)
        } catch {
            // An `EncodingError` quotes the value.
            throw NetworkError(.encodingFailed, reason: "the body cannot be encoded (\(type(of: error)))")
        }
        self.temporaryFile = temporaryFile
    }

    /// Removes what was written for the call. Nothing may be sent afterwards.
    func discard() {
        guard let temporaryFile else { return }
        // The system clears its temporary folder; a file that cannot be removed now does no harm.
        try? FileManager.default.removeItem(at: temporaryFile)
    }
}

/// A file that cannot be sent.
struct FileProblem: Error {
    let reason: String

    /// Throws when a file cannot be read. It says so before anything is sent, and without the path, which may hold
    /// a user's name.
    static func check(_ url: URL) throws {
        var isFolder: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder)
        guard url.isFileURL, exists, !isFolder.boolValue, FileManager.default.isReadableFile(atPath: url.path) else {
            throw FileProblem(reason: "the file to send cannot be read")
        }
    }

    /// The size of a file in bytes.
    static func size(of url: URL) throws -> Int64 {
        try check(url)
        let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
        return (attributes[.size] as? NSNumber)?.int64Value ?? 0
    }
}
