/// What a server wants in another proof of a request that it has refused for its proof (RFC 9449 §7.1, §9).
enum WantedInProof: Sendable {
    /// The nonce that it has named.
    case nonce

    /// The time on its clock, as it seems: it does not say what is wrong with the proof, and has shown its clock.
    case time
}

/// One challenge of a `WWW-Authenticate` field (RFC 9110 §11.6.1): a scheme and its parameters.
struct AuthenticationChallenge: Sendable, Hashable {
    /// The most bytes of a field that are read.
    private static let maximumFieldLength = 8_192

    /// The scheme, in lower case.
    let scheme: String

    /// The parameters by name, in lower case. If a name occurs twice, the first value is kept.
    private(set) var parameters: [String: String] = [:]

    /// The error, in lower case.
    var error: String? { parameters["error"]?.lowercased() }

    /// Reads the challenges of a field, or of the values of several fields joined with commas.
    ///
    /// Text that is not a challenge is skipped up to the next comma, so that it does not hide the challenges after it.
    ///
    /// - Complexity: O(*n*) in the length of the field. At most 8 KB are read.
    static func challenges(in field: String) -> [AuthenticationChallenge] {
        var scanner = FieldScanner(String(decoding: field.utf8.prefix(maximumFieldLength), as: UTF8.self))
        var challenges: [AuthenticationChallenge] = []
        while !scanner.isAtEnd {
            read(&scanner, into: &challenges)
            scanner.skipItem()
        }
        return challenges
    }

    /// Reads one element of the list. Commas separate both challenges and parameters, so the text after a name decides:
    /// `name =` is a parameter of the challenge before it, and a name alone starts a challenge.
    private static func read(_ scanner: inout FieldScanner, into challenges: inout [AuthenticationChallenge]) {
        let equals = UInt8(ascii: "=")
        guard var name = scanner.token() else { return }
        if !scanner.skip(equals) {
            challenges.append(AuthenticationChallenge(scheme: name.lowercased()))
            // Without a value it is the token68 of a scheme such as `Negotiate`, which is not needed.
            guard let parameter = scanner.token(), scanner.skip(equals) else { return }
            name = parameter
        }
        guard let value = scanner.quotedString()?.text ?? scanner.token(), !value.isEmpty, !challenges.isEmpty
        else { return }
        challenges[challenges.count - 1].parameters.merge([name.lowercased(): value]) { first, _ in first }
    }
}

extension HTTPResponseHead {
    /// Whether a `Bearer` or `DPoP` challenge says that the token itself is invalid: expired, revoked or malformed (RFC
    /// 6750 §3.1, RFC 9449 §7.1). Other challenges of the field are ignored.
    var saysBearerTokenIsInvalid: Bool { tokenErrors.contains("invalid_token") }

    /// Whether a new token removes no error of the `Bearer` or `DPoP` challenges (RFC 6750 §3.1, RFC 9449 §7.1, §9).
    var saysBearerTokenIsNotTheReason: Bool {
        let errors = tokenErrors
        let others: Set = ["insufficient_scope", "invalid_request", "invalid_dpop_proof", "use_dpop_nonce"]
        return !errors.isEmpty && errors.allSatisfy(others.contains)
    }

    /// What the server wants in another proof of the request, with the same token. `nil`: nothing that it names.
    var wantedInProof: WantedInProof? {
        guard status == 401 || status == 400 else { return nil }
        let errors = tokenErrors
        if headers["DPoP-Nonce"] != nil, errors.contains("use_dpop_nonce") { return .nonce }
        return serverDate != nil && errors.contains("invalid_dpop_proof") ? .time : nil
    }

    private var tokenErrors: [String] { tokenChallenges.compactMap(\.error) }

    /// The `Bearer` challenges, and those of DPoP, which has a scheme of its own (RFC 9449 §7.1).
    var tokenChallenges: [AuthenticationChallenge] {
        AuthenticationChallenge.challenges(in: headers["WWW-Authenticate"] ?? "")
            .filter { ["bearer", "dpop"].contains($0.scheme) }
    }
}
