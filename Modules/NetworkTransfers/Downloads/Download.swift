import AuthInterface
import ConcurrencyPrimitives
import Foundation
import NetworkCore

/// Receives one file, in as many responses as it takes.
struct Download {
    /// Sends the request for the file, or for the rest of it. It returns what the request asked for too: see
    /// `HTTPRequestHead.identity`; `nil` where it is not known.
    typealias Open = @Sendable (_ range: ByteRange?) async throws -> (HTTPTransportResponse, request: String?)

    /// The part that is requested: from a byte to the end, or of a length, of what a validator names.
    struct ByteRange: Sendable {
        let first: Int64
        var length: Int64?
        let validator: String

        /// The value of `Range` (RFC 9110 §14.1.1).
        var field: String { "bytes=\(first)-\(length.map { "\(first + $0 - 1)" } ?? "")" }
    }

    /// The length of the first part that is requested after a response has arrived faster than it was read, and of the
    /// last: each such failure halves it.
    static let (longestPart, shortestPart): (Int64, Int64) = (16 * 1_024 * 1_024, 64 * 1_024)

    /// The most responses in a row that end the rest of the file after less than the shortest part (G25).
    static let mostShortParts = 64

    /// Whether the request may be sent again for the rest of the file: it is a `GET`.
    let isResumable: Bool
    let options: DownloadOptions
    let continuity: SessionContinuity
    let progress: ProgressHandler?
    let open: Open

    /// Downloads to a file.
    @concurrent
    func run(to target: URL) async throws -> DownloadedFile {
        try ReplacementFile.refuseReplacing(target)
        return try await run(to: target, keepsFile: isResumable && options.resumption.keepsFile) { file, _ in
            try file.commit(to: target)
            return target
        }
    }

    /// Downloads into a folder, under the name that the server proposes.
    @concurrent
    func run(into folder: URL, named fallback: String) async throws -> DownloadedFile {
        guard folder.isFileURL else { throw NetworkError(.fileFailed, reason: "the folder is no file URL") }
        return try await run(to: folder.appendingPathComponent("download"), keepsFile: false) { file, head in
            let path = head.url.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: true)?.path } ?? ""
            let name = head.contentDisposition?.fileName ?? ContentDisposition.safeFileName(path) ?? fallback
            return try file.commit(into: folder, as: name)
        }
    }

    private func run(
        to place: URL, keepsFile: Bool, commit: (PartialFile, HTTPResponseHead) throws -> URL
    ) async throws -> DownloadedFile {
        var file = try PartialFile(of: place, keepsFile: keepsFile)
        do {
            var resumptions = file.canResume ? 1 : 0
            var failures = 0
            var part: Int64?
            var shortParts = 0
            while true {
                do {
                    let before = file.length
                    let head = try await receive(into: &file, part: part)
                    try Task.checkCancellation()
                    // A part that ends before the file does has brought one byte at least.
                    guard file.isWhole else {
                        shortParts = file.length - before < Self.shortestPart ? shortParts + 1 : 0
                        guard shortParts <= Self.mostShortParts else {
                            let reason = "the server sends the file in parts of a few bytes"
                            throw NetworkError(.invalidResponse, reason: reason, response: head)
                        }
                        continue
                    }
                    let url = try commit(file, head)
                    return DownloadedFile(url: url, size: file.length, head: head, resumptions: resumptions)
                } catch let failure as NetworkError where failure.code == .readTooSlowly && file.canResume {
                    // A part that is smaller than what may wait to be read arrives whole, however slowly it is read.
                    guard part.map({ $0 > Self.shortestPart && failure.status == 206 }) ?? true else { throw failure }
                    part = part.map { $0 / 2 } ?? Self.longestPart
                    resumptions += 1
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
            file.abandon(keeping: (error as? NetworkError)?.permitsLaterCall ?? true)
            throw try NetworkError(describing: error, otherwise: .fileFailed)
        }
    }

    /// Receives one response to its end.
    private func receive(into file: inout PartialFile, part: Int64?) async throws -> HTTPResponseHead {
        let (response, end) = try await openResponse(for: &file, part: part)
        let total = file.record.total
        if let total, total > options.maximumSize { throw refuseSize(of: &file, response.head) }
        progress?(TransferProgress(completed: file.length, total: total))
        var meter = options.minimumRate.map { RateMeter($0) }
        var lastUptime = options.clock.uptime
        for try await piece in response.body {
            let isFastEnough = meter?.record(piece.count, after: options.clock.uptime - lastUptime)
            let length = file.length + Int64(piece.count)
            if let end, length > end {
                throw NetworkError(
                    .invalidResponse, reason: "the file is longer than announced", response: response.head)
            }
            guard length <= options.maximumSize else { throw refuseSize(of: &file, response.head) }
            try file.append(piece)
            progress?(TransferProgress(completed: length, total: total))
            if isFastEnough == false, let rate = options.minimumRate { throw rate.error(waitingFor: .responseBody) }
            lastUptime = options.clock.uptime
        }
        guard end.map({ $0 == file.length }) ?? true else {
            throw NetworkError(.connectionFailed, reason: "the file ended early", response: response.head)
        }
        return response.head
    }

    /// Requests the file, or the rest of it. Returns the response, and the length of the file after it, if announced.
    private func openResponse(
        for file: inout PartialFile, part: Int64?
    ) async throws -> (HTTPTransportResponse, end: Int64?) {
        var range = file.rest
        range?.length = part
        var (response, request) = try await open(range)
        if let range, response.head.status == 206 || response.head.status == 416 {
            if file.isOf(request: request, session: continuity.session?.rawValue) {
                if response.head.status == 206 {
                    let part = try response.head.part(range, total: file.record.total)
                    let isShort = range.length.map { part.last - part.first + 1 < $0 } ?? true
                    file.continue(total: part.total, isLast: isShort)
                    return (response, end: part.last + 1)
                }
                if response.head.saysWhole(range, total: file.record.total) {
                    file.continue(total: range.first)
                    return (HTTPTransportResponse(head: response.head, body: .none), end: range.first)
                }
            }
            // The partial file cannot be continued: the resource, the request or the user has changed.
            (response, request) = try await open(nil)
        }
        guard response.head.status != 206 else {
            throw NetworkError(.invalidResponse, reason: "a part was not requested", response: response.head)
        }
        let isPlain = response.head.isPlain
        let length = response.head.headers.values(of: "Content-Length").first.flatMap { Int64($0) }
        try file.restart(
            request: request, validator: isPlain && isResumable ? response.head.strongValidator : nil,
            total: isPlain ? length : nil, session: continuity.session?.rawValue)
        return (response, end: file.record.total)
    }

    /// The error of a file over the limit, of which nothing is kept.
    private func refuseSize(of file: inout PartialFile, _ head: HTTPResponseHead) -> NetworkError {
        file.forget()
        let reason = "the file has more than \(options.maximumSize) bytes"
        return NetworkError(.responseTooLarge, reason: reason, response: head)
    }
}

extension HTTPResponseHead {
    /// Whether the bytes of the body are those of the file.
    fileprivate var isPlain: Bool { headers["Content-Encoding"].map { $0.lowercased() == "identity" } ?? true }

    /// The part that a 206 contains, of the same resource.
    ///
    /// - Throws: `NetworkError` with code `invalidResponse` when it is not the part that was requested.
    fileprivate func part(_ asked: Download.ByteRange, total: Int64?) throws -> ContentRange {
        guard isPlain else { throw NetworkError(.invalidResponse, reason: "the part is encoded", response: self) }
        guard let range = headers["Content-Range"].flatMap({ ContentRange($0) }) else {
            throw NetworkError(.invalidResponse, reason: "the part has no valid Content-Range", response: self)
        }
        let isExpected =
            range.first == asked.first && (total == nil || range.total == nil || range.total == total)
            && asked.length.map { range.last - range.first < $0 } ?? true
        guard isExpected, permits(asked.validator) else {
            throw NetworkError(.invalidResponse, reason: "the part is not the one that was requested", response: self)
        }
        return range
    }

    /// Whether a 416 says that there are no bytes after those of the file.
    ///
    /// A server that knows `If-Range` compares the validator first, and ignores `Range` where the resource has changed
    /// (RFC 9110 §14.2), so that a 416 is about the same resource. A server that does not know it is recognized only by
    /// another validator or length; any other 416 proves nothing, and the whole file is requested.
    fileprivate func saysWhole(_ asked: Download.ByteRange, total: Int64?) -> Bool {
        guard let length = headers["Content-Range"].flatMap({ ContentRange.total(ofUnsatisfied: $0) }) else {
            return false
        }
        return length == asked.first && (total == nil || total == length) && permits(asked.validator)
    }

    /// Whether the fields name no other representation than a validator does.
    private func permits(_ validator: String) -> Bool {
        if validator.hasPrefix("\"") { return headers["ETag"].map { $0 == validator } ?? true }
        return headers["Last-Modified"].map { HTTPDate($0)?.date == HTTPDate(validator)?.date } ?? true
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

    /// Whether a later call may use what was received: the server has not refused the request, nor the session ended.
    fileprivate var permitsLaterCall: Bool {
        switch code {
        case .invalidResponse, .sessionEnded, .notSignedIn: false
        case .unacceptableStatus, .unauthorized:
            status.map { !(400..<500).contains($0) || [408, 425, 429].contains($0) } ?? true
        default: true
        }
    }
}
