import Testing

@testable import NetworkCore

/// `WWW-Authenticate` (RFC 9110 §11.6.1, RFC 6750 §3).
@Suite struct AuthenticationChallengeTests {
    static let invalid = [
        #"Bearer error="invalid_token""#, #"Bearer error=invalid_token"#, #"bearer ERROR="INVALID_TOKEN""#,
        #"Bearer realm="a, b", error="invalid_token", error_description="expired""#,
        #"Bearer realm="say \"hi\", error=none" ,error = "invalid_token""#,
        #"Basic realm="x", Bearer error="invalid_token""#, #"Bearer error="invalid_token", Basic realm="x""#,
        #"Negotiate YIIabc/+==, Bearer scope="a b", error="invalid_token""#,
        #"Negotiate, Bearer error="invalid_token""#, #", ,Bearer , error="invalid_token""#,
        #"Digest qop="auth", Bearer realm="x", Bearer error="invalid_token""#,
        #"x "", Bearer error="invalid_token""#, #"Bearer error="invalid\_token""#, #"Bearer error="invalid_token"#,
        #"DPoP algs="ES256", error="invalid_token""#,
    ]

    static let others = [
        "", "Bearer", "Bearer ", "bearer,", "=", "\"", "\\", "error=\"invalid_token\"",
        #"Bearer realm="error=invalid_token""#, #"Bearer realm="x, error=\"invalid_token\"""#,
        #"Bearer error="insufficient_scope""#, #"Bearer error="invalid_token_x""#,
        #"Bearer error="insufficient_scope", error="invalid_token""#,
        #"Bearer error="insufficient_scope", Basic error="invalid_token""#, #"DPoP error="use_dpop_nonce""#,
        #"Basic error="invalid_token", Bearer realm="x""#, #"BearerX error="invalid_token""#, #"Negotiate error"#,
    ]

    private func head(_ field: String) -> HTTPResponseHead {
        HTTPResponseHead(status: 401, headers: ["WWW-Authenticate": field])
    }

    @Test func `a challenge with invalid_token is found at any position, and no other one says so`() {
        for field in Self.invalid { #expect(head(field).saysBearerTokenIsInvalid, "\(field)") }
        for field in Self.others { #expect(!head(field).saysBearerTokenIsInvalid, "\(field)") }
        let several = HTTPHeaders([
            ("WWW-Authenticate", #"Basic realm="x""#), ("www-authenticate", #"Bearer error="invalid_token""#),
        ])
        #expect(HTTPResponseHead(status: 401, headers: several).saysBearerTokenIsInvalid, "one list of two fields")
    }

    @Test(arguments: [
        (#"Bearer error="insufficient_scope""#, true), (#"Bearer error="invalid_request""#, true),
        (#"Bearer error="insufficient_scope", Bearer error="invalid_token""#, false),
        (#"Bearer error="insufficient_scope", Bearer error="other""#, false),
        (#"DPoP error="use_dpop_nonce""#, true), (#"DPoP error="invalid_dpop_proof""#, true),
        (#"DPoP error="use_dpop_nonce", Bearer error="invalid_token""#, false),
        (#"DPoP error="invalid_token""#, false), (#"DPoP algs="ES256""#, false),
        (#"Bearer realm="x""#, false), ("", false),
    ])
    func `a new token helps unless all errors are ones that it does not remove`(field: String, isNotTheReason: Bool) {
        #expect(head(field).saysBearerTokenIsNotTheReason == isNotTheReason)
    }

    static let proofs: [(Int, String?, String, WantedInProof?)] = [
        (401, "nonce-1", #"DPoP error="use_dpop_nonce", algs="ES256""#, .nonce),
        (400, "nonce-1", #"DPoP error="use_dpop_nonce""#, .nonce), (401, nil, #"DPoP error="use_dpop_nonce""#, nil),
        (401, "nonce-1", #"DPoP error="invalid_token""#, nil), (403, "nonce-1", #"DPoP error="use_dpop_nonce""#, nil),
        (401, "nonce-1", "", nil), (401, "nonce-1", #"DPoP error="invalid_dpop_proof""#, .time),
        (400, nil, #"DPoP error="invalid_dpop_proof""#, .time), (403, nil, #"DPoP error="invalid_dpop_proof""#, nil),
    ]

    @Test(arguments: proofs)
    func `another proof is wanted where the challenge says so, and names its nonce or its time (RFC 9449 §7.1, §9)`(
        status: Int, nonce: String?, field: String, wanted: WantedInProof?
    ) {
        var headers = HTTPHeaders([("WWW-Authenticate", field), ("Date", "Sun, 01 Nov 2026 10:00:00 GMT")])
        headers["DPoP-Nonce"] = nonce
        #expect(HTTPResponseHead(status: status, headers: headers).wantedInProof == wanted)
        headers["Date"] = nil
        let isTime = wanted == .time
        #expect(HTTPResponseHead(status: status, headers: headers).wantedInProof == (isTime ? nil : wanted))
    }

    @Test func `schemes and parameters are distinguished`() {
        let challenges = AuthenticationChallenge.challenges(in: #"Basic realm="a=b, c", charset=UTF-8, Bearer scope=x"#)
        #expect(challenges.map(\.scheme) == ["basic", "bearer"])
        #expect(challenges.first?.parameters == ["realm": "a=b, c", "charset": "UTF-8"])
        #expect(challenges.last?.parameters == ["scope": "x"])
    }
}
