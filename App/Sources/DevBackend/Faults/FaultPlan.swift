/// What goes wrong, and for how many requests: a value, given at the start or set while the server runs.
///
/// For each request the rules are read in order. Those that match and are not used up apply: delays add up and the
/// request continues; the first rule that keeps the handler from running decides the answer and ends the reading.
/// A rule's count goes down only when the rule applies.
public struct FaultPlan: Sendable, Hashable, Codable {
    /// The rules, in the order they are tried.
    public var rules: [FaultRule]

    /// Whether a rotation also expires the older access tokens of its family.
    public var strictRotation: Bool

    /// The seed of every `jitter` of this plan. The same seed gives the same delays in the same order of requests.
    public var seed: UInt64

    /// A plan with these rules.
    ///
    /// - Parameters:
    ///   - rules: the rules, in the order they are tried.
    ///   - strictRotation: whether a rotation also expires the older access tokens of its family.
    ///   - seed: the seed of every `jitter`.
    public init(_ rules: [FaultRule] = [], strictRotation: Bool = false, seed: UInt64 = 1) {
        self.rules = rules
        self.strictRotation = strictRotation
        self.seed = seed
    }

    /// Nothing goes wrong.
    public static let none = FaultPlan()

    /// Every request that needs an access token is answered 401, whatever token it carries; refreshing still works.
    public static let refusingEveryAccessToken = FaultPlan(
        ["/articles/**", "/users/**", "/files/**"].map { FaultRule(nil, $0, .refuseToken) })

    /// Every request that matches gets 401 with any access token; all others work, refreshing included.
    ///
    /// - Parameter path: the path below the base path, with wildcards, such as `/articles/*`.
    /// - Returns: a plan with one rule, without end.
    public static func refusingAccessTokens(at path: String) -> FaultPlan {
        FaultPlan([FaultRule(nil, path, .refuseToken)])
    }

    private enum CodingKeys: String, CodingKey {
        case rules, strictRotation, seed
    }

    /// Reads a plan; every field may be absent.
    ///
    /// - Throws: `DecodingError` when a rule is malformed.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        rules = try container.decodeIfPresent([FaultRule].self, forKey: .rules) ?? []
        strictRotation = try container.decodeIfPresent(Bool.self, forKey: .strictRotation) ?? false
        seed = try container.decodeIfPresent(UInt64.self, forKey: .seed) ?? 1
    }
}

/// One thing that goes wrong with the requests it matches.
public struct FaultRule: Sendable, Hashable, Codable {
    /// The method, in capitals, or nil for any.
    public var method: String?

    /// The path below the base path, such as `/auth/refresh`; `*` is any one segment, a final `**` any number.
    ///
    /// A request outside the base path is matched by its whole path.
    public var path: String

    /// What happens.
    public var action: FaultAction

    /// How many more requests it happens to; nil is without end.
    public var remaining: Int?

    /// A rule.
    ///
    /// - Parameters:
    ///   - method: the method, in capitals, or nil for any.
    ///   - path: the path below the base path, with wildcards.
    ///   - action: what happens.
    ///   - remaining: how many requests it happens to; nil is without end.
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
