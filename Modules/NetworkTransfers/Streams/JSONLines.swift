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
        _ endpoint: Endpoint<Value>, coding: JSONCoding = .standard,
        maximumLineLength: Int = JSONLines<Value>.defaultMaximumLineLength, options: RequestOptions = RequestOptions()
    ) -> JSONLines<Value> {
        var endpoint = endpoint
        let accept = "application/x-ndjson, application/jsonl, application/json"
        endpoint.settings.headers["Accept"] = endpoint.settings.headers["Accept"] ?? accept
        return JSONLines(coding: coding, limit: maximumLineLength) { [endpoint] in
            try await stream(endpoint, options: options)
        }
    }

    /// Reads the JSON lines at a path: ``lines(_:coding:maximumLineLength:options:)`` of a `GET`.
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
    /// The default of the longest line: 1 MiB.
    @usableFromInline static var defaultMaximumLineLength: Int { 1_024 * 1_024 }

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
                    while let line = try splitter.next() {
                        // Lines without a visible character are no values.
                        guard line.contains(where: { $0 > 0x20 }) else { continue }
                        return try await JSONLines.decode(Data(line), source.coding)
                    }
                    guard !isEnded else { return nil }
                    try await readOn()
                }
            } catch {
                (isEnded, pieces, splitter) = (true, nil, LineSplitter(limit: source.limit))
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
            if let piece = try await pieces?.next() { return splitter.take(piece) }
            (isEnded, pieces) = (true, nil)
            splitter.end()
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
        guard MediaType(headers.first(of: "Content-Type"))?.isHTML == true else { return }
        throw NetworkError(.decodingFailed, reason: "the response is a page (HTML), not JSON lines", response: self)
    }
}
