/// A request to expect, and its response.
///
/// ```swift
/// .get("articles/7") ~> .status(401)
/// ```
public struct Stub: Sendable {
    /// The request to expect.
    public let request: StubRequest

    /// The response.
    public let response: StubResponse

    private(set) var isRepeated = false

    /// Creates a stub.
    public init(_ request: StubRequest, _ response: StubResponse) {
        self.request = request
        self.response = response
    }

    /// The stub for any number of requests: it is never used up and never left over.
    public func repeated() -> Stub {
        var copy = self
        copy.isRepeated = true
        return copy
    }
}

/// Creates a stub from a request and its response.
public func ~> (request: StubRequest, response: StubResponse) -> Stub { Stub(request, response) }
