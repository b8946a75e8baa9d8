/// The faults of a server: a value, given at the start or set while the server runs.
///
/// For each request the rules are read in order. Those that match and have a count left apply: delays add up and the
/// request continues; the first rule that replaces the handler determines the response, and no further rule is read.
/// A rule's count goes down only when the rule applies.
public struct FaultPlan: Sendable, Hashable, Codable {
    /// The rules, in the order they are tried.
    public var rules: [FaultRule]

    /// Whether a rotation also expires the older access tokens of its family.
    public var strictRotation: Bool

    /// The seed of every `jitter` of this plan. The same seed gives the same delays in the same order of requests.
    public var seed: UInt64

    /// Creates a plan.
    ///
    /// - Parameters:
    ///   - rules: The rules, in the order they are tried.
    ///   - strictRotation: Whether a rotation also expires the older access tokens of its family.
    ///   - seed: The seed of every `jitter`.
    public init(_ rules: [FaultRule] = [], strictRotation: Bool = false, seed: UInt64 = 1) {
        self.rules = rules
        self.strictRotation = strictRotation
        self.seed = seed
    }

    /// Nothing goes wrong.
    public static let none = FaultPlan()

    /// Every request that needs an access token gets 401 with any token. Refreshing still works.
    public static let refusingEveryAccessToken = FaultPlan(
        ["/articles/**", "/users/**", "/files/**"].map { FaultRule(nil, $0, .refuseToken) })

    /// Every request that matches gets 401 with any access token. All others work, refreshing included.
    ///
    /// - Parameter path: The path below the base path, with wildcards, such as `/articles/*`.
    /// - Returns: A plan with one rule, which applies indefinitely.
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
