public import Foundation
public import NetworkCore

/// A request that a stub expects, by its method and the end of its path.
public struct StubRequest: Sendable, CustomStringConvertible {
    /// The method. `nil`: any.
    public let method: HTTPMethod?

    /// The last segments of the path, without a leading slash. `nil`: any.
    public let path: String?

    /// Where the request was described. Equality ignores it.
    let place: StubPlace?

    /// Creates a description of a request. `nil` stands for any method, or any path. A path is the last segments:
    /// `articles/7` matches `/api/v1/articles/7`.
    public init(_ method: HTTPMethod?, _ path: String?, file: StaticString = #filePath, line: UInt = #line) {
        self.init(method: method, path: path, place: StubPlace(file: file, line: line))
    }

    private init(method: HTTPMethod?, path: String?, place: StubPlace?) {
        self.method = method
        self.path = path
        self.place = place
    }

    /// Any request. Issues about its stub are recorded where the double was created.
    public static let any = StubRequest(method: nil, path: nil, place: nil)

    /// A `GET` request.
    public static func get(_ path: String, file: StaticString = #filePath, line: UInt = #line) -> StubRequest {
        StubRequest(.get, path, file: file, line: line)
    }

    /// A `POST` request.
    public static func post(_ path: String, file: StaticString = #filePath, line: UInt = #line) -> StubRequest {
        StubRequest(.post, path, file: file, line: line)
    }

    /// A `PUT` request.
    public static func put(_ path: String, file: StaticString = #filePath, line: UInt = #line) -> StubRequest {
        StubRequest(.put, path, file: file, line: line)
    }

    /// A `PATCH` request.
    public static func patch(_ path: String, file: StaticString = #filePath, line: UInt = #line) -> StubRequest {
        StubRequest(.patch, path, file: file, line: line)
    }

    /// A `DELETE` request.
    public static func delete(_ path: String, file: StaticString = #filePath, line: UInt = #line) -> StubRequest {
        StubRequest(.delete, path, file: file, line: line)
    }

    func matches(_ request: SentRequest) -> Bool {
        (method == nil || method == request.method) && (path == nil || matchesPath(of: request))
    }

    /// Whether a path was named, and is that of the request.
    func matchesPath(of request: SentRequest) -> Bool {
        guard let path else { return false }
        return request.path == path || request.path.hasSuffix("/" + path)
    }

    /// The method and path.
    public var description: String { "\(method?.rawValue ?? "any method") \(path ?? "any path")" }
}

extension StubRequest: Hashable {
    /// Compares method and path.
    public static func == (first: StubRequest, second: StubRequest) -> Bool {
        first.method == second.method && first.path == second.path
    }

    /// Hashes method and path.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(method)
        hasher.combine(path)
    }
}

/// A request that a test double received.
///
/// It contains everything that was sent, secrets included. Its description shows the method and path only.
public struct SentRequest: Sendable, CustomStringConvertible, CustomReflectable {
    /// The method.
    public let method: HTTPMethod

    /// The URL.
    public let url: URL?

    /// The header fields.
    public let headers: HTTPHeaders

    /// The body. A sequence or file is read to its end. `nil`: there was none.
    public let body: Data?

    /// The idle timeout.
    public let idleTimeout: Duration

    /// The longest time to the head of the response.
    public let timeToHead: Duration?

    /// The call the request is part of.
    public let context: RequestContext

    init(_ request: HTTPTransportRequest) async throws {
        method = request.head.method
        url = request.head.url
        headers = request.head.headers
        body = request.body.isEmpty ? nil : try await request.body.collect(upTo: .max)
        idleTimeout = request.idleTimeout
        timeToHead = request.timeToHead
        context = request.context
    }

    /// The path, percent-encoded, without its leading slash.
    public var path: String {
        let path = url.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: true)?.percentEncodedPath } ?? ""
        return path.hasPrefix("/") ? String(path.dropFirst()) : path
    }

    /// The query, percent-encoded.
    public var query: String? {
        url.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: true)?.percentEncodedQuery }
    }

    /// The method and path.
    public var description: String { "\(method) /\(path)" }

    /// Shows `dump` and debuggers what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["request": description], displayStyle: .struct) }
}
