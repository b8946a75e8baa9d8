public import NetworkCore

/// One exchange to expect: which request, and what to answer.
///
/// ```swift
/// .get("articles/7") ~> .status(401)
/// ```
public struct Stub: Sendable {
    /// Which request.
    public let request: StubRequest

    /// What to answer.
    public let answer: StubResponse

    /// Creates a stub.
    ///
    /// - Parameters:
    ///   - request: Which request.
    ///   - answer: What to answer.
    public init(_ request: StubRequest, _ answer: StubResponse) {
        self.request = request
        self.answer = answer
    }
}

/// Makes a stub of a request and its answer.
///
/// - Parameters:
///   - request: Which request.
///   - answer: What to answer.
/// - Returns: The stub.
public func ~> (request: StubRequest, answer: StubResponse) -> Stub {
    Stub(request, answer)
}

/// Which request a stub is for: by method, and by the end of the path.
public struct StubRequest: Sendable, Hashable, CustomStringConvertible {
    /// The method; `nil` matches any.
    public let method: HTTPMethod?

    /// The last segments of the path, without a slash before them; `nil` matches any.
    public let path: String?

    /// Creates a description of a request.
    ///
    /// - Parameters:
    ///   - method: The method; `nil` matches any.
    ///   - path: The last segments of the path: `articles/7` matches `/api/v1/articles/7`. `nil` matches any.
    public init(_ method: HTTPMethod?, _ path: String?) {
        self.method = method
        self.path = path
    }

    /// Any request.
    public static let any = StubRequest(nil, nil)

    /// A `GET` request.
    ///
    /// - Parameter path: The last segments of its path.
    /// - Returns: The description.
    public static func get(_ path: String) -> StubRequest { StubRequest(.get, path) }

    /// A `POST` request.
    ///
    /// - Parameter path: The last segments of its path.
    /// - Returns: The description.
    public static func post(_ path: String) -> StubRequest { StubRequest(.post, path) }

    /// A `PUT` request.
    ///
    /// - Parameter path: The last segments of its path.
    /// - Returns: The description.
    public static func put(_ path: String) -> StubRequest { StubRequest(.put, path) }

    /// A `PATCH` request.
    ///
    /// - Parameter path: The last segments of its path.
    /// - Returns: The description.
    public static func patch(_ path: String) -> StubRequest { StubRequest(.patch, path) }

    /// A `DELETE` request.
    ///
    /// - Parameter path: The last segments of its path.
    /// - Returns: The description.
    public static func delete(_ path: String) -> StubRequest { StubRequest(.delete, path) }

    func matches(_ request: SentRequest) -> Bool {
        guard method == nil || method == request.method else { return false }
        guard let path else { return true }
        return request.path == path || request.path.hasSuffix("/" + path)
    }

    /// The method and path.
    public var description: String {
        "\(method?.rawValue ?? "any method") \(path ?? "any path")"
    }
}
