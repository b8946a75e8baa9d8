import Foundation

// What names say of their values.
extension Redaction {
    /// The fields whose values are shown, in lower case.
    static let legibleFields: Set = [
        "etag", "if-match", "if-none-match", "x-request-id", "request-id", "x-correlation-id", "x-amzn-requestid",
        "x-amz-request-id", "x-amz-id-2", "cf-ray", "traceparent", "tracestate", "x-trace-id", "x-b3-traceid",
        "x-cloud-trace-context", "date", "last-modified", "content-type", "content-length",
    ]

    private static let sensitiveParts = [
        "token", "secret", "password", "passwd", "passphrase", "passcode", "signature", "credential", "session", "auth",
        "apikey", "accesskey", "subscriptionkey", "privatekey", "secretkey", "signingkey", "functionskey", "assertion",
        "jwt", "saml", "cookie", "verifier", "bearer", "ticket", "csrf", "xsrf", "otpcode", "smscode", "mfacode",
        "logincode", "recoverycode", "backupcode", "verificationcode", "confirmationcode", "securitycode", "accesscode",
    ]
    private static let sensitiveNames: Set = [
        "code", "sig", "key", "pin", "otp", "totp", "pwd", "pw", "pass", "hmac", "sid", "state", "nonce", "refresh",
        "idempotencykey", "devicecode", "usercode", "cvv", "cvc", "dpop",
    ]

    /// Whether a name denotes a secret: of a query item, a form field, a header field or a member of an object.
    package static func isSensitive(_ name: String) -> Bool {
        var letters = name.lowercased().filter(\.isLetter)
        // An author is no secret, and an authorization is one.
        if letters.contains("author"), !letters.contains("authoriz"), !letters.contains("authoris") {
            letters = letters.replacingOccurrences(of: "author", with: "")
        }
        return sensitiveNames.contains(letters) || sensitiveParts.contains { letters.contains($0) }
    }

    /// Whether a value under a name that can denote a secret is a word of another kind: `NOT_FOUND` under `code`,
    /// `done` under `state`, `title` under `key`, `Bearer` under `token_type`.
    package static func isWord(_ value: String, under name: String) -> Bool {
        let letters = name.lowercased().filter(\.isLetter)
        guard ["code", "state", "key"].contains(letters) || describingEnds.contains(where: letters.hasSuffix) else {
            return false
        }
        return value.utf8.allSatisfy { $0 == 0x5F || $0.isLetter }
    }

    private static let describingEnds = ["type", "hint", "kind", "method"]

    private static let harmlessNames: Set = [
        "cursor", "after", "before", "limit", "offset", "page", "perpage", "pagesize", "size", "count", "first",
        "last", "skip", "top", "sort", "sortby", "order", "orderby", "q", "query", "search", "fields", "include",
        "expand", "lang", "language", "locale", "format", "version", "v", "apiversion", "type", "category", "tag",
        "tags", "status", "since", "until", "from", "to", "date", "year", "month", "day", "id", "ids", "width",
        "height",
    ]

    /// Whether the value of a query item may be shown: the name is of paging, sorting, searching or selecting. The
    /// value of any other is redacted, because an API is free to name its secrets.
    static func isHarmless(_ name: String) -> Bool {
        harmlessNames.contains(name.lowercased().filter(\.isLetter))
    }

    private static let announcingWords: Set = [
        "token", "tokens", "secret", "secrets", "password", "passwords", "reset", "invite", "invites", "invitation",
        "invitations", "verify", "verification", "confirm", "confirmation", "activate", "activation", "magic", "otp",
        "unsubscribe", "key", "keys", "apikey", "apikeys", "ticket", "tickets", "code", "codes", "signin", "login",
    ]

    /// Whether the segment of a path after this one may be a secret: `reset-password`, `magic-link`, `tokens`.
    static func announcesSecret(_ segment: Substring) -> Bool {
        segment.lowercased().split { !$0.isLetter }.contains { announcingWords.contains(String($0)) }
    }
}
