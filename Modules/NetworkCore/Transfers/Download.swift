import AuthInterface
import ConcurrencyPrimitives
import Foundation

/// Receives one file, in as many responses as it takes.
struct Download {
    typealias Open = @Sendable (_ range: ByteRange?) async throws -> HTTPTransportResponse

    /// The part that is requested.
    struct ByteRange: Sendable {
        let first: Int64
        let validator: String
    }

    let key: String
    let options: DownloadOptions
    let continuity: SessionContinuity
    let progress: ProgressHandler?
    let open: Open

    /// Downloads to a file.
    @concurrent
    func run(to target: URL) async throws -> DownloadedFile {
        try Self.refuseFolder(at: target)
        return try await run(to: target, keepsFile: options.resumption.keepsFile) { file, _ in
            try file.commit(to: target)
            return target
        }
    }

    /// Downloads into a folder, under the name that the server proposes.
    @concurrent
    func run(into folder: URL, named fallback: String) async throws -> DownloadedFile {
        try await run(to: folder.appendingPathComponent("download"), keepsFile: false) { file, head in
            let path = head.url.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: true)?.path } ?? ""
            let name = head.contentDisposition?.fileName ?? ContentDisposition.safeFileName(path) ?? fallback
            return try file.commit(into: folder, as: name)
        }
    }

    private func run(
        to place: URL,
        keepsFile: Bool,
        commit: (PartialFile, HTTPResponseHead) throws -> URL
    ) async throws -> DownloadedFile {
        var file = try PartialFile(of: place, key: key, keepsFile: keepsFile)
        do {
            var resumptions = file.canResume ? 1 : 0
            var failures = 0
            while true {
                do {
                    let head = try await receive(into: &file)
                    try Task.checkCancellation()
                    let url = try commit(file, head)
                    return DownloadedFile(url: url, size: file.length, head: head, resumptions: resumptions)
                } catch let failure as NetworkError where failure.isInterruption {
                    failures += 1
                    let asked = failure.retryAfter ?? .zero
                    guard file.canResume, failures <= options.maximumResumptions, asked <= options.backoff.limit else {
                        throw failure
                    }
                    resumptions += 1
                    let pause = max(options.backoff.delay(afterFailures: failures), asked)
                    try await options.clock.sleep(until: options.clock.uptime + pause)
                }
            }
        } catch {
            file.abandon(keeping: (error as? NetworkError)?.isInterruption ?? (error is CancellationError))
            throw try NetworkError(describing: error, otherwise: .fileFailed)
        }
    }

    /// Receives one response to its end.
    private func receive(into file: inout PartialFile) async throws -> HTTPResponseHead {
        let response = try await openResponse(for: &file)
        let total = file.record.total
        if let total, total > options.maximumSize { throw tooLarge(response.head) }
        progress?(TransferProgress(completed: file.length, total: total))
        for try await piece in response.body {
            let length = file.length + Int64(piece.count)
            if let total, length > total {
                throw NetworkError(
                    .invalidResponse, reason: "the file is longer than announced", response: response.head)
            }
            guard length <= options.maximumSize else { throw tooLarge(response.head) }
            try file.append(piece)
            progress?(TransferProgress(completed: length, total: total))
        }
        guard total.map({ $0 == file.length }) ?? true else {
            throw NetworkError(.connectionFailed, reason: "the file ended early", response: response.head)
        }
        return response.head
    }

    /// Requests the file, or the rest of it.
    private func openResponse(for file: inout PartialFile) async throws -> HTTPTransportResponse {
        var range: ByteRange?
        if file.canResume, let validator = file.record.validator {
            range = ByteRange(first: file.length, validator: validator)
        }
        var response = try await open(range)
        if let asked = range {
            let isOfOtherSession = file.record.session != continuity.session?.rawValue
            if response.head.status == 416 || (response.head.status == 206 && isOfOtherSession) {
                // What was received is of no use: the resource is another one now, or the user is.
                range = nil
                response = try await open(nil)
            } else if response.head.status == 206 {
                guard response.head.isPlain else {
                    throw NetworkError(.invalidResponse, reason: "the part is encoded", response: response.head)
                }
                try response.head.check(asked, total: file.record.total)
                return response
            }
        }
        guard response.head.status != 206 else {
            throw NetworkError(.invalidResponse, reason: "a part was not requested", response: response.head)
        }
        let isPlain = response.head.isPlain
        let length = response.head.headers.values(of: "Content-Length").first.flatMap { Int64($0) }
        try file.restart(
            validator: isPlain ? response.head.strongValidator : nil,
            total: isPlain ? length : nil,
            session: continuity.session?.rawValue
        )
        return response
    }

    private func tooLarge(_ head: HTTPResponseHead) -> NetworkError {
        let reason = "the file has more than \(options.maximumSize) bytes"
        return NetworkError(.responseTooLarge, reason: reason, response: head)
    }

    private static func refuseFolder(at target: URL) throws {
        var isFolder: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: target.path, isDirectory: &isFolder)
        guard target.isFileURL, !exists || !isFolder.boolValue else {
            throw NetworkError(.fileFailed, reason: "the target is a folder, or no file URL")
        }
    }
}

extension HTTPResponseHead {
    /// Whether the bytes of the body are those of the file.
    fileprivate var isPlain: Bool {
        headers["Content-Encoding"].map { $0.lowercased() == "identity" } ?? true
    }

    /// Checks that the response is the part that was requested, of the same resource.
    fileprivate func check(_ asked: Download.ByteRange, total: Int64?) throws {
        guard let range = headers["Content-Range"].flatMap({ ContentRange($0) }) else {
            throw NetworkError(.invalidResponse, reason: "the part has no valid Content-Range", response: self)
        }
        let isExpected = range.first == asked.first && (total == nil || range.total == nil || range.total == total)
        let tag = headers["ETag"]
        guard isExpected, tag == nil || !asked.validator.hasPrefix("\"") || tag == asked.validator else {
            throw NetworkError(.invalidResponse, reason: "the part is not the one that was requested", response: self)
        }
    }
}

extension NetworkError {
    /// Whether the connection was lost, and another one may receive the rest.
    fileprivate var isInterruption: Bool {
        switch code {
        case .connectionFailed, .timedOut, .transportFailed: true
        default: status.map { $0 == 503 || $0 == 429 } ?? false && code == .unacceptableStatus
        }
    }
}
