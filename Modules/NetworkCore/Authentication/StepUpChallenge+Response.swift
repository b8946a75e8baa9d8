import AuthInterface

extension StepUpChallenge {
    /// Reads a challenge to the token of a request. `nil`: it demands nothing.
    fileprivate init?(_ challenge: AuthenticationChallenge, withoutQuoting secrets: [String]) {
        guard let error = challenge.error else { return nil }
        self.init(Demand(rawValue: error), withoutQuoting: secrets) { challenge.parameters[$0] }
        guard [.userAuthentication, .scope].contains(demand) || (demand == .claims && claims != nil) else { return nil }
    }

    /// Reads what stands beside a demand, by its name in RFC 9470 §3: a parameter, or a member of a body. A text with
    /// one of the secrets in it is left out.
    init(
        _ demand: Demand, suberror: String? = nil, withoutQuoting secrets: [String],
        _ parameter: (_ name: String) -> String?
    ) {
        func text(_ name: String) -> String? { parameter(name)?.unlessQuoting(secrets) }
        self.init(
            demand,
            acrValues: text("acr_values")?.split(separator: " ").map(String.init) ?? [],
            maxAge: text("max_age").flatMap(UInt32.init).map { .seconds(Int64($0)) },
            scope: text("scope"),
            claims: text("claims"),
            suberror: suberror?.unlessQuoting(secrets)?.asIdentifier(withoutQuoting: []))
    }
}

extension String {
    /// The text, unless one of the secrets is in it.
    fileprivate func unlessQuoting(_ secrets: [String]) -> String? {
        secrets.contains { !$0.isEmpty && contains($0) } ? nil : self
    }
}

extension NetworkError {
    /// The statuses with which a challenge may come: 401 (RFC 9470 §3) and 403 (RFC 6750 §3.1).
    private static let stepUpStatuses: Set = [401, 403]

    /// The error of a call that demands a step-up. `nil`: it does not, or its token is invalid as well.
    func demandingStepUp(orOneOf statuses: Set<Int>, withoutQuoting secrets: [String]) -> NetworkError? {
        guard let response, statuses.union(Self.stepUpStatuses).contains(response.status),
            !response.saysBearerTokenIsInvalid
        else { return nil }
        let demands = response.tokenChallenges.lazy.compactMap { StepUpChallenge($0, withoutQuoting: secrets) }
        return demands.first.map { failure(.stepUpRequired, cause: cause, stepUp: $0) }
    }
}
