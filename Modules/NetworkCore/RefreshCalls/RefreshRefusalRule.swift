public import AuthInterface

/// What some responses of a token endpoint mean for the session (G4): for a server with words of its own.
///
/// ```swift
/// handler.refusals = .gitHub
/// handler.refusals = [try RefreshRefusalRule(codes: ["TOKEN_DEAD"], at: ["error.message"], statuses: [400])]
/// handler.refusals += [try .neverEnds("MAINTENANCE")]
/// ```
///
/// A rule is asked only for a response of the token endpoint itself, in JSON or a form, and ends nothing where that has
/// a token which was not sent. A member that is `null`, `false`, 0 or empty is no code, and what follows a colon in
/// one, or precedes a `#`, need not be listed. Of several rules that match, the first of this list decides:
///
/// 1. ``neverEnds(_:)``;
/// 2. a rule with a text or a resource;
/// 3. what is built in: a demand that the user acts (G32), and the codes of a wrong client or call, and of a server
///    that is busy, which end nothing;
/// 4. the other rules.
public struct RefreshRefusalRule: Sendable, Hashable {
    /// The statuses with which a token endpoint refuses (RFC 6749 §5.2), and 403.
    public static let usualStatuses: Set<Int> = [400, 401, 403]

    /// What the response means: `rejected`, `ambiguous`, `unavailable` or `userActionRequired`.
    let verdict: TokenRefreshError.Code

    /// The codes, compared without regard to case.
    let codes: Set<String>

    /// Where the codes are: members, such as `error`, `error.message` or `errors[].code`, in which `[]` stands for each
    /// item of a list, or `header:` and the name of a field.
    let places: [String]

    /// The statuses; 200 stands for every success.
    let statuses: Set<Int>

    /// A part of a text that the body must have too, in any case. `nil`: none.
    let text: String?

    /// The member `resource` beside the code. `nil`: any.
    let resource: String?

    /// Whether the rule wins over all others.
    let isFinal: Bool

    /// Creates a rule.
    ///
    /// - Throws: ``InvalidRefusalRule`` for an empty or missing code, text or resource, a place that is no path, a
    ///   status with which a server is busy, fails or redirects, and a verdict that no response has.
    public init(
        _ verdict: TokenRefreshError.Code = .rejected,
        codes: Set<String>,
        at places: [String] = ["error"],
        statuses: Set<Int> = usualStatuses,
        containing text: String? = nil,
        resource: String? = nil
    ) throws(InvalidRefusalRule) {
        guard [.rejected, .ambiguous, .unavailable, .userActionRequired].contains(verdict) else {
            throw InvalidRefusalRule(reason: "no response means \(verdict)")
        }
        guard !codes.isEmpty, !codes.contains(""), text != "", resource != "" else {
            throw InvalidRefusalRule(reason: "a code, text or resource is empty")
        }
        guard !places.isEmpty, places.allSatisfy({ Self.field(of: $0) != nil || MemberPath($0) != nil }) else {
            throw InvalidRefusalRule(reason: "a place is a path such as error.code, errors[].code or header:Name")
        }
        guard !statuses.isEmpty, statuses.allSatisfy(Self.mayRefuse) else {
            throw InvalidRefusalRule(reason: "a refusal has status 200, or 4xx other than 408, 425 and 429")
        }
        self.init(codes, at: places, statuses, containing: text, resource: resource, means: verdict)
    }

    /// Responses with these codes end nothing, wherever the code is, and whichever other rules match.
    ///
    /// - Throws: ``InvalidRefusalRule`` for an empty code, or none.
    public static func neverEnds(_ codes: String...) throws(InvalidRefusalRule) -> RefreshRefusalRule {
        let rule = try RefreshRefusalRule(.unavailable, codes: Set(codes))
        return RefreshRefusalRule(rule.codes, at: [], [], means: rule.verdict, isFinal: true)
    }

    /// All places in which codes are found.
    package static let everyPlace = ["*"]

    /// A rule of this package.
    package init(
        _ codes: Set<String>, at places: [String] = ["error"], _ statuses: Set<Int> = usualStatuses,
        containing text: String? = nil, resource: String? = nil, means verdict: TokenRefreshError.Code = .rejected,
        isFinal: Bool = false
    ) {
        self.verdict = verdict
        self.codes = codes
        self.places = places
        self.statuses = statuses
        self.text = text
        self.resource = resource
        self.isFinal = isFinal
    }

    private static func mayRefuse(_ status: Int) -> Bool {
        status == 200 || ((400..<500).contains(status) && ![408, 425, 429].contains(status))
    }

    /// The header field that a place names.
    private static func field(of place: String) -> String? {
        let name = place.hasPrefix("header:") ? String(place.dropFirst(7)) : ""
        return name.isEmpty || name.contains(where: \.isWhitespace) ? nil : name
    }

    /// Whether the rule asks for more than a code.
    var isSpecific: Bool { text != nil || resource != nil }

    /// The code of a response for which the rule holds. `nil`: it does not.
    func code(in refusal: TokenCallRefusal) -> String? {
        func isListed(_ code: String) -> Bool { code.isOne(of: codes) }
        if isFinal { return refusal.codes.first(where: isListed) }
        guard statuses.contains(refusal.status), text.map(refusal.body.value.contains) ?? true else { return nil }
        if places == Self.everyPlace { return refusal.codes.first(where: isListed) }
        func listed(in texts: [String]) -> String? {
            texts.flatMap { [$0, $0.withoutNamespace] }.first(where: isListed)
        }
        return places.lazy.compactMap { place in
            if let field = Self.field(of: place) { return listed(in: refusal.headers[field].map { [$0] } ?? []) }
            guard let path = MemberPath(place) else { return nil }
            guard let resource, let (parent, name) = path.parentAndName else {
                return listed(in: refusal.body.texts(at: path))
            }
            return refusal.body.value.values(at: parent).compactMap(\.members)
                .filter { $0["resource"]?.text == resource }.compactMap { $0[name]?.text }.first(where: isListed)
        }.first
    }
}

/// Why a rule for the refusals of a token endpoint cannot be made.
public struct InvalidRefusalRule: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong with it.
    public let reason: String

    /// What is wrong with it.
    public var description: String { "invalid refusal rule: \(reason)" }
}
