/// One fault, and the requests that it applies to.
public struct FaultRule: Sendable, Hashable, Codable {
    /// The method, in capitals, or nil for any.
    public var method: String?

    /// The path below the base path, such as `/auth/refresh`; `*` is any one segment, a final `**` any number.
    ///
    /// A request outside the base path is matched by its whole path.
    public var path: String

    /// The fault.
    public var action: FaultAction

    /// The number of requests that the rule still applies to; nil for no limit.
    public var remaining: Int?

    /// Creates a rule.
    ///
    /// - Parameters:
    ///   - method: The method, in capitals, or nil for any.
    ///   - path: The path below the base path, with wildcards.
    ///   - action: The fault.
    ///   - remaining: The number of requests that the rule applies to; nil for no limit.
    public init(_ method: String?, _ path: String, _ action: FaultAction, times remaining: Int? = nil) {
        self.method = method
        self.path = path
        self.action = action
        self.remaining = remaining
    }

    func matches(method: String, path: String) -> Bool {
        (self.method == nil || self.method == method) && PathPattern(self.path).matches(path)
    }
}
