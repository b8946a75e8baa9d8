/// The faults of a server: a value, given at the start or set while the server runs.
///
/// For each request the rules are read in order. Those that match and have a count left apply: delays add up and the
/// request continues; the first rule that replaces the handler determines the response, and no further rule is read.
/// A rule's count goes down only when the rule applies.
public struct FaultPlan: Sendable, Hashable, Decodable {
    /// The rules, in the order they are tried.
    public var rules: [FaultRule]

    /// Whether a rotation also expires the older access tokens of its family.
    public var strictRotation: Bool

    /// Creates a plan.
    public init(_ rules: [FaultRule] = [], strictRotation: Bool = false) {
        self.rules = rules
        self.strictRotation = strictRotation
    }

    /// Nothing goes wrong.
    public static let none = FaultPlan()

    private enum CodingKeys: String, CodingKey {
        case rules
    }

    /// Reads `{"rules": […]}`; without rules nothing goes wrong.
    ///
    /// - Throws: `DecodingError` when a rule is malformed.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        self.init(try fields.decodeIfPresent([FaultRule].self, forKey: .rules) ?? [])
    }
}

/// One fault, and the requests that it applies to.
public struct FaultRule: Sendable, Hashable, Decodable {
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

/// A path with wildcards: `*` stands for one segment, a final `**` for any number of them, none included.
struct PathPattern: Sendable, Hashable {
    private let segments: [Substring]
    private let matchesRemainder: Bool

    init(_ pattern: String) {
        var segments = pattern.split(separator: "/")
        matchesRemainder = segments.last == "**"
        if matchesRemainder { segments.removeLast() }
        self.segments = segments
    }

    func matches(_ path: String) -> Bool {
        let candidates = path.split(separator: "/")
        guard matchesRemainder ? candidates.count >= segments.count : candidates.count == segments.count else {
            return false
        }
        return zip(segments, candidates).allSatisfy { segment, candidate in segment == "*" || segment == candidate }
    }
}
