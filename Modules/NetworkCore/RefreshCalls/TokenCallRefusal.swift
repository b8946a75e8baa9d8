package import AuthInterface
import Foundation

/// A response of a token endpoint that brings no tokens, and what it means by the rules that all handlers share (G4).
package struct TokenCallRefusal {
    /// What a response means, and the code that decides.
    package typealias Verdict = (verdict: TokenRefreshError.Code, serverCode: String, stepUp: StepUpChallenge?)

    /// A wrong client, or a wrong call: neither is the user's fault (RFC 6749 §5.2, and the words of others).
    package static let clientCodes: Set<String> = [
        "invalid_client", "unauthorized_client", "unknown_client", "client_invalid", "client_not_found",
        "client_disabled", "invalid_client_id", "invalid_client_secret", "client_id_invalid", "invalid_app",
        "app_not_found", "invalid_application", "unsupported_grant_type", "invalid_request", "invalid_scope",
        "invalid_target", "invalid_dpop_proof", "use_dpop_nonce",
    ]

    /// The codes that demand an action of the user (OpenID Connect Core §3.1.2.6, and Microsoft's).
    private static let userActionCodes: Set<String> = [
        "interaction_required", "login_required", "consent_required", "mfa_required", "account_selection_required",
    ]

    /// The finer codes beside `invalid_grant` that refuse the token itself.
    private static let refusingSuberrors: Set<String> = ["bad_token", "token_expired"]

    /// The finer codes with which Google asks for a sign-in.
    private static let reauthenticationSubtypes: Set<String> = ["invalid_rapt", "rapt_required"]

    /// The code in Microsoft's error that says that calls came too fast.
    private static let throttlingCode = "50196"

    package let body: ErrorBody

    /// 200 for every success.
    package let status: Int

    let headers: HTTPHeaders

    /// The codes of the body, which is searched for them once.
    package let codes: [String]

    private let asksToWait: Bool

    /// `nil`: no whole response of the server came, or it is a page or of no known form.
    package init?(_ error: NetworkError) {
        guard let status = error.statusOfWholeResponse, !error.isPage, let body = ErrorBody(of: error),
            error.isRefusalOfTheCall || error.code == .decodingFailed
        else { return nil }
        self.body = body
        codes = body.codes
        self.status = (200..<300).contains(status) ? 200 : status
        headers = error.response?.headers ?? HTTPHeaders()
        asksToWait = error.asksToWait
    }

    /// What the response means by some rules, and by what is built in; `nil` where none says anything. The codes of
    /// `neverEnding` end nothing, unless a rule with a text or a resource says so.
    package func verdict(
        by rules: [RefreshRefusalRule], neverEnding: Set<String> = clientCodes, withoutQuoting secrets: [String?]
    ) -> Verdict? {
        func first(_ isMeant: (RefreshRefusalRule) -> Bool) -> Verdict? {
            for rule in rules where isMeant(rule) {
                guard let code = rule.code(in: self) else { continue }
                let neverEnds = rules.contains { $0.isFinal && code.isOne(of: $0.codes) }
                if neverEnds || (rule.verdict.ends && hasToken(besides: secrets)) { return (.unavailable, code, nil) }
                let demand = rule.verdict == .userActionRequired ? stepUp(.interaction, secrets) : nil
                return (rule.verdict, code, demand)
            }
            return nil
        }
        let verdict = first(\.isFinal) ?? first(\.isSpecific) ?? demand(withoutQuoting: secrets)
        if let verdict { return verdict }
        if let code = codes.first(where: { $0.isOne(of: neverEnding) }) { return (.unavailable, code, nil) }
        if isThrottled, let invalidGrant { return (.unavailable, invalidGrant, nil) }
        if let verdict = first({ !$0.isFinal && !$0.isSpecific }) { return verdict }
        // A sentence says less than a code, and *Invalid request* nothing.
        let words = body.message?.asCode ?? ""
        return words != "invalid_request" && words.isOne(of: Self.clientCodes) ? (.unavailable, words, nil) : nil
    }

    /// Whether the response has a token that the call did not send. Nothing ends for it: the server may mean that one.
    package func hasToken(besides secrets: [String?]) -> Bool { body.tokens.contains { !secrets.contains($0) } }

    /// What the developer can do about a refusal for which there is no rule. `nil`: it has no code.
    package func hintForUnlistedCode(withoutQuoting secrets: [String?]) -> String? {
        guard let code = codes.first?.asIdentifier(withoutQuoting: secrets) else { return nil }
        return
            "no rule says what \(code) means, so the session stays; if it means that the refresh token is dead, add a "
            + "RefreshRefusalRule with this code and status \(status)"
    }

    /// The demand that the user acts.
    private func demand(withoutQuoting secrets: [String?]) -> Verdict? {
        guard status == 200 || (400..<500).contains(status), ![408, 425, 429].contains(status) else { return nil }
        if let code = codes.first(where: { $0.isOne(of: Self.userActionCodes) }) {
            return (.userActionRequired, code, stepUp(.init(rawValue: code.lowercased()), secrets))
        }
        guard let invalidGrant, !isThrottled else { return nil }
        let suberror = body.text(at: "suberror", "error.suberror")
        let isFiner = suberror.map { !$0.isOne(of: Self.refusingSuberrors) } ?? false
        let isReauthentication = (body.text(at: "error_subtype") ?? suberror)?.isOne(of: Self.reauthenticationSubtypes)
        guard claims != nil || isFiner || isReauthentication == true else { return nil }
        return (.userActionRequired, invalidGrant, stepUp(.interaction, secrets))
    }

    /// The code of RFC 6749 §5.2 that refuses the refresh token, as the body has it.
    private var invalidGrant: String? { codes.first { $0.isOne(of: ["invalid_grant"]) } }

    private var claims: String? { body.text(at: "claims", "error.claims") ?? body.json(at: "claims") }

    private var isThrottled: Bool {
        asksToWait || body.texts(at: "error_codes[]").contains(Self.throttlingCode)
            || body.value.contains("AADSTS" + Self.throttlingCode)
    }

    private func stepUp(_ demand: StepUpChallenge.Demand, _ secrets: [String?]) -> StepUpChallenge {
        let suberror = body.text(at: "suberror", "error_subtype", "error.suberror")
        return StepUpChallenge(demand, suberror: suberror, withoutQuoting: secrets.compactMap(\.self)) { name in
            name == "claims" ? claims : MemberPath(name).flatMap { body.text(at: $0) }
        }
    }
}

extension TokenRefreshError.Code {
    /// Whether the session ends, at once or where this is repeated.
    fileprivate var ends: Bool { self == .rejected || self == .ambiguous }
}

extension ErrorBody {
    /// The body that an error keeps, or the error object of one that keeps none, such as that of a test double.
    package init?(of error: NetworkError) {
        if let body = error.body {
            // A body that was cut is no error object: those are short.
            let isWhole = error.bodyLength <= NetworkError.maximumBodyLength
            if isWhole, let read = ErrorBody(body, error.response?.headers) {
                self = read
                return
            }
        }
        // A format of the application's own may have read it.
        guard let code = error.serverError?.code else { return nil }
        self.init(.object(["error": .text(code)]))
    }
}

extension NetworkError {
    /// Whether the body is a page of a proxy or gateway: HTML, or other text that starts with an angle bracket.
    package var isPage: Bool {
        if body?.startsWithAngleBracket == true { return true }
        let isHTML = response?.headers["Content-Type"]?.lowercased().contains("html") == true
        return isHTML && ErrorBody(of: self)?.memberNames == nil
    }
}

extension String {
    /// A sentence in the form of a code: `Client not found` as `client_not_found`.
    fileprivate var asCode: String { lowercased().split { !$0.isLetter && !$0.isNumber }.joined(separator: "_") }
}

extension Data {
    /// Whether the first character is `<`, after a byte order mark and white space.
    fileprivate var startsWithAngleBracket: Bool {
        let text = starts(with: [0xEF, 0xBB, 0xBF]) ? dropFirst(3) : self[...]
        return text.first { ![0x09, 0x0A, 0x0D, 0x20].contains($0) } == UInt8(ascii: "<")
    }
}
