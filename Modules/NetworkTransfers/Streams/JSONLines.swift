import Foundation
public import NetworkCore

extension NetworkService {
    /// Reads a response of JSON lines (NDJSON): each line is a value, decoded as soon as it is there. A line of
    /// more bytes than the maximum fails with code `responseTooLarge`.
    ///
    /// ```swift
    /// for try await article in network.lines("export", of: Article.self) { … }
    /// ```
    ///
    /// - Returns: The values. Each iteration sends the request.
    public func lines<Value: Decodable>(
        _ endpoint: Endpoint<Value>,
        coding: JSONCoding = .standard,
        maximumLineLength: Int = JSONLines<Value>.defaultMaximumLineLength,
        options: RequestOptions = RequestOptions()
    ) -> JSONLines<Value> {
        var endpoint = endpoint
        let accept = "application/x-ndjson, application/jsonl, application/json"
        endpoint.settings.headers["Accept"] = endpoint.settings.headers["Accept"] ?? accept
        return JSONLines(coding: coding, limit: maximumLineLength) { [endpoint] in
            try await stream(endpoint, options: options)
        }
    }

    /// Reads the JSON lines at a path: ``lines(_:coding:maximumLineLength:options:)`` of a `GET`.
    ///
    /// - Returns: The values. Each iteration sends the request.
    public func lines<Value: Decodable & Sendable>(
        _ path: EndpointPath,
        of type: Value.Type,
        query: QueryItems = [:],
        coding: JSONCoding = .standard,
        maximumLineLength: Int = JSONLines<Value>.defaultMaximumLineLength,
        options: RequestOptions = RequestOptions()
    ) -> JSONLines<Value> {
        let endpoint = Endpoint<Value>.get(path, query: query)
        return lines(endpoint, coding: coding, maximumLineLength: maximumLineLength, options: options)
    }
}

/// The values of a response of JSON lines. `NetworkService.lines(_:coding:maximumLineLength:options:)` makes it.
///
/// Empty lines are skipped, and the last line needs no end. A connection that is lost is an error: the response is not
/// requested again, because a value would occur twice.
public struct JSONLines<Value: Decodable & Sendable>: AsyncSequence, Sendable {
    /// A value.
    public typealias Element = Value

    /// The default of the longest line: 1 MiB.
    public static var defaultMaximumLineLength: Int { 1_024 * 1_024 }

    let coding: JSONCoding
    let limit: Int
    let open: @Sendable () async throws -> HTTPTransportResponse

    /// Starts an iteration. It sends nothing.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

    /// Reads the values. Releasing it ends the exchange.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let source: JSONLines
        private var head: HTTPResponseHead?
        private var pieces: HTTPBody.AsyncIterator?
        private var splitter: LineSplitter
        private var lines: ArraySlice<Data> = []
        private var isEnded = false

        fileprivate init(_ source: JSONLines) {
            self.source = source
            splitter = LineSplitter(limit: source.limit)
        }

        /// Waits for the next value.
        ///
        /// - Returns: The value, or `nil` at the end of the response.
        /// - Throws: `NetworkError`, with code `decodingFailed` for a line that is not such a value;
        ///   `CancellationError` at once when the task is cancelled. After an error there are no more values.
        public mutating func next() async throws -> Value? {
            do {
                while true {
                    if let line = lines.popFirst() { return try await JSONLines.decode(line, source.coding) }
                    guard !isEnded else { return nil }
                    try await readOn()
                }
            } catch {
                (isEnded, pieces, lines) = (true, nil, [])
                guard var failure = error as? NetworkError else {
                    throw try NetworkError(describing: error, otherwise: .decodingFailed)
                }
                if failure.response == nil { failure.response = head }
                throw failure
            }
        }

        /// Sends the request, or reads one piece.
        private mutating func readOn() async throws {
            guard pieces != nil else {
                let response = try await source.open()
                head = response.head
                try response.head.refusePage()
                pieces = response.body.makeAsyncIterator()
                return
            }
            if let failure = splitter.failure { throw failure }
            if let piece = try await pieces?.next() {
                lines = try splitter.read(piece)[...]
            } else {
                isEnded = true
                pieces = nil
                lines = splitter.end()[...]
            }
        }
    }

    /// Decodes off the caller's actor.
    @concurrent
    private static func decode(_ line: Data, _ coding: JSONCoding) async throws -> Value {
        do {
            return try coding.makeDecoder().decode(Value.self, from: line)
        } catch {
            throw try NetworkError(describing: error, otherwise: .decodingFailed)
        }
    }
}

extension HTTPResponseHead {
    fileprivate func refusePage() throws {
        let type = headers.values(of: "Content-Type").first.flatMap { MediaType($0) }
        guard let type, type.isHTML else { return }
        throw NetworkError(.decodingFailed, reason: "the response is a page (HTML), not JSON lines", response: self)
    }
}

/// Splits text into lines at line feeds. Lines without a visible character are left out.
///
/// - Complexity: O(*n*) in the number of bytes.
struct LineSplitter {
    private let limit: Int
    private var line = Data()
    private var isFirstLine = true

    /// Why there are no more lines after those that the last piece completed: a line is over the limit.
    private(set) var failure: NetworkError?

    init(limit: Int) {
        self.limit = limit
    }

    /// Reads a piece.
    ///
    /// - Returns: The lines that the piece completes before ``failure``.
    /// - Throws: ``failure`` if the piece completed no line.
    mutating func read(_ piece: Data) throws -> [Data] {
        var lines: [Data] = []
        do {
            try read(piece, into: &lines)
        } catch {
            failure = error
        }
        if let failure, lines.isEmpty { throw failure }
        return lines
    }

    private mutating func read(_ piece: Data, into lines: inout [Data]) throws(NetworkError) {
        if let failure { throw failure }
        var rest = piece
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            try append(rest[..<end])
            lines += self.end()
            rest = rest[(end + 1)...]
        }
        try append(rest)
    }

    /// Ends the line.
    ///
    /// - Returns: The line, if it has a visible character.
    mutating func end() -> [Data] {
        defer { line = Data() }
        if isFirstLine {
            isFirstLine = false
            if line.starts(with: [0xEF, 0xBB, 0xBF]) { line = Data(line.dropFirst(3)) }
        }
        return line.contains { $0 > 0x20 } ? [line] : []
    }

    private mutating func append(_ bytes: Data) throws(NetworkError) {
        guard line.count + bytes.count <= limit else {
            throw NetworkError(.responseTooLarge, reason: "a line has more than \(limit) bytes")
        }
        line.append(bytes)
    }
}
