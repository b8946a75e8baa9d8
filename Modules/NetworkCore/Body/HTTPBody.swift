public import AuthInterface
import ConcurrencyPrimitives
public import Foundation

/// The body of a message, read asynchronously in pieces: what a transport sends, and what it receives.
///
/// A body of data, of a file, or of a closure that makes a sequence is *repeatable*: each iterator reads it from its
/// first byte. A body of one sequence is read *once*: a second iterator fails with code `alreadyRead` (G21).
///
/// A transport that sends bodies looks at ``data`` and ``file`` first, where it has a shorter way for them.
public struct HTTPBody: Sendable {
    typealias Pull = @Sendable () async throws -> Data?

    enum Content: Sendable {
        case none
        case data(Data)
        case file(URL)
        case sequence(@Sendable () throws -> Pull, isRepeatable: Bool)
    }

    let content: Content

    /// The number of bytes; `nil` where it is not known before the end.
    public let length: Int64?

    /// Makes the fields that are sent after the body, such as its checksum (RFC 9110 §6.5). It is called for each
    /// attempt, when the body has been read to its end. `nil`: there are none.
    ///
    /// A transport that cannot send them, such as `URLSessionTransport`, fails with code `invalidRequest`.
    public var trailers: (@Sendable () async throws -> HTTPHeaders)?

    private init(_ content: Content, length: Int64?) {
        self.content = content
        self.length = length
    }

    /// No body.
    public static let none = HTTPBody(.none, length: 0)

    /// Creates a body of bytes in memory.
    public init(_ data: Data) { self.init(.data(data), length: Int64(data.count)) }

    /// Creates a body of a file, which is read in pieces of 64 KB. The file is regular, or a symbolic link to such a
    /// file. A change of its size while it is read is an error.
    ///
    /// - Throws: ``HTTPBodyError`` with code `unreadable` when the file cannot be read, or is no regular file.
    public init(file: URL) throws(HTTPBodyError) {
        let size = try FileState(file).size
        // A transport that sends the file itself may look at the link.
        self.init(.file(file.resolvingSymlinksInPath()), length: size)
    }

    /// Creates a repeatable body.
    ///
    /// - Parameters:
    ///   - length: The number of bytes, where it is known. Another number of bytes is an error.
    ///   - make: Makes the sequence from its first byte. It is called for each iterator.
    public init<Pieces: AsyncSequence & SendableMetatype>(
        length: Int64? = nil, make: @escaping @Sendable () throws -> Pieces
    ) where Pieces.Element == Data {
        self.init(.sequence({ SequenceReader(try make()).next }, isRepeatable: true), length: length)
    }

    /// Creates a body that is read once. Another number of bytes than the length, where it is known, is an error.
    public init<Pieces: AsyncSequence & Sendable>(
        once pieces: Pieces, length: Int64? = nil
    ) where Pieces.Element == Data {
        self.init(startingOnce: { SequenceReader(pieces).next }, length: length)
    }

    /// Creates a body that is read once, whose pieces are requested one by one, so that a slow reader slows the sender.
    ///
    /// - Parameters:
    ///   - length: The number of bytes, where it is known.
    ///   - pull: Waits for the next piece; `nil` is the end of the body, and only its real end. It is never called
    ///     while a call of it is under way. When it is released before the end, the body is not read on.
    public init(length: Int64? = nil, pull: @escaping @Sendable () async throws -> Data?) {
        self.init(startingOnce: { pull }, length: length)
    }

    private init(startingOnce start: @escaping @Sendable () -> Pull, length: Int64?) {
        let unread = Locked(Optional(start))
        let take: @Sendable () throws -> Pull = {
            guard let start = unread.withLock({ $0.take() }) else { throw HTTPBodyError.alreadyRead }
            return start()
        }
        self.init(.sequence(take, isRepeatable: false), length: length)
    }

    /// The same pieces. A closure is told how many bytes they had, each time that they have been read to their end.
    func notingEnd(_ note: @escaping @Sendable (Int64) -> Void) -> HTTPBody {
        guard case .sequence(let start, let isRepeatable) = content else { return self }
        let noted: @Sendable () throws -> Pull = {
            let next = try start()
            let count = Locked<Int64>(0)
            return {
                let piece = try await next()
                let read = count.withLock { count in
                    count += Int64(piece?.count ?? 0)
                    return count
                }
                if piece == nil { note(read) }
                return piece
            }
        }
        var body = HTTPBody(.sequence(noted, isRepeatable: isRepeatable), length: length)
        body.trailers = trailers
        return body
    }

    /// The same pieces for one reader. A closure is called with each, with the `nil` of the end, and with an error.
    package func observed(by observe: @escaping @Sendable (Result<Data?, any Error>) throws -> Void) -> HTTPBody {
        let next = SequenceReader(self).next
        return HTTPBody(length: length) {
            let result: Result<Data?, any Error>
            do { result = .success(try await next()) } catch { result = .failure(error) }
            try observe(result)
            return try result.get()
        }
    }

    /// Whether the body can be read more than once.
    public var isReplayable: Bool { if case .sequence(_, let isRepeatable) = content { isRepeatable } else { true } }

    /// Whether there is no body. A body of zero bytes is one.
    public var isEmpty: Bool { if case .none = content { true } else { false } }

    /// The bytes, where they are in memory.
    public var data: Data? {
        switch content {
        case .none: Data()
        case .data(let data): data
        default: nil
        }
    }

    /// The file, where the body is one.
    public var file: URL? { if case .file(let url) = content { url } else { nil } }

    /// Reads the whole body into memory.
    ///
    /// - Throws: ``HTTPBodyError`` with code `tooLong` when there are more bytes; what reading throws.
    public func collect(upTo limit: Int) async throws -> Data {
        if let data {
            guard data.count <= limit else { throw HTTPBodyError.tooLong(limit) }
            return data
        }
        var body = Data()
        for try await piece in self {
            guard body.count + piece.count <= limit else { throw HTTPBodyError.tooLong(limit) }
            if body.isEmpty { body = piece } else { body.append(piece) }
        }
        return body
    }
}

extension HTTPBody: AsyncSequence {
    /// Starts reading. Of a body that is read once, a second iterator throws when it is used.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

    /// Reads the pieces of a body.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private enum State {
            case waiting(HTTPBody)
            case data(Data)
            case file(FileReader)
            case sequence(Pull)
            case ended
        }

        private var state: State
        private var missing: Int64?

        fileprivate init(_ body: HTTPBody) {
            state = .waiting(body)
            if case .sequence = body.content { missing = body.length }
        }

        /// Waits for the next piece; `nil` is the end of the body.
        ///
        /// - Throws: ``HTTPBodyError``; what the sequence throws; `CancellationError` when the task is cancelled.
        public mutating func next() async throws -> Data? {
            try Task.checkCancellation()
            if case .waiting(let body) = state { state = try Self.start(body) }
            guard let piece = try await pull() else {
                state = .ended
                try Task.checkCancellation()
                if let missing, missing != 0 { throw HTTPBodyError.wrongLength }
                return nil
            }
            if let missing {
                self.missing = missing - Int64(piece.count)
                guard missing >= piece.count else { throw HTTPBodyError.wrongLength }
            }
            return piece
        }

        private mutating func pull() async throws -> Data? {
            switch state {
            case .waiting, .ended: return nil
            case .data(let data):
                state = .ended
                return data.isEmpty ? nil : data
            case .file(let reader): return try reader.next()
            case .sequence(let pull): return try await pull()
            }
        }

        private static func start(_ body: HTTPBody) throws -> State {
            switch body.content {
            case .none: .ended
            case .data(let data): .data(data)
            case .file(let url): .file(try FileReader(url, size: body.length))
            case .sequence(let start, _): .sequence(try start())
            }
        }
    }
}

/// Reads a sequence of any kind, one call at a time.
private final class SequenceReader<Pieces: AsyncSequence>: @unchecked Sendable  // one iterator, not `Sendable`, uses it
where Pieces.Element == Data {
    private var iterator: Pieces.AsyncIterator

    init(_ pieces: Pieces) { iterator = pieces.makeAsyncIterator() }

    @Sendable func next() async throws -> Data? { try await iterator.next() }
}

extension HTTPBody: RedactedDescription {
    /// The kind of body; never its content (G17).
    public var description: String {
        switch content {
        case .none: "none"
        case .data(let data): "\(data.count) bytes"
        case .file: "file"
        case .sequence(_, let isRepeatable): isRepeatable ? "sequence" : "sequence, read once"
        }
    }
}
