/// One challenge of a `WWW-Authenticate` field (RFC 9110 §11.6.1): a scheme and its parameters.
struct AuthenticationChallenge: Sendable, Hashable {
    /// The most bytes of a field that are read.
    private static let maximumFieldLength = 8_192

    /// The scheme, in lower case.
    let scheme: String

    /// The parameters by name, in lower case. If a name occurs twice, the first value is kept.
    private(set) var parameters: [String: String] = [:]

    /// Reads the challenges of a field.
    ///
    /// Text that is not a challenge is skipped up to the next comma, so that it does not hide the challenges after it.
    ///
    /// - Complexity: O(*n*) in the length of the field. At most 8 KB are read.
    ///
    /// - Parameter field: The value of the field, or the values of several fields joined with commas.
    /// - Returns: The challenges in order.
    static func challenges(in field: String) -> [AuthenticationChallenge] {
        var reader = ChallengeReader(Array(field.utf8.prefix(maximumFieldLength)))
        return reader.read()
    }

    fileprivate init(scheme: String) {
        self.scheme = scheme
    }

    fileprivate mutating func add(_ name: String, _ value: String) {
        if parameters[name] == nil { parameters[name] = value }
    }
}

extension HTTPResponseHead {
    /// Whether a `Bearer` challenge says that the token itself is invalid: expired, revoked or malformed (RFC 6750
    /// §3.1). Other challenges of the field are ignored.
    var saysBearerTokenIsInvalid: Bool { bearerErrors.contains("invalid_token") }

    /// Whether `Bearer` challenges name errors, all of which a new token does not remove (RFC 6750 §3.1).
    var saysBearerTokenIsNotTheReason: Bool {
        let errors = bearerErrors
        return !errors.isEmpty && errors.allSatisfy { $0 == "insufficient_scope" || $0 == "invalid_request" }
    }

    /// The errors of the `Bearer` challenges, in lower case.
    private var bearerErrors: [String] {
        guard let field = headers["WWW-Authenticate"] else { return [] }
        return AuthenticationChallenge.challenges(in: field).compactMap { challenge in
            challenge.scheme == "bearer" ? challenge.parameters["error"]?.lowercased() : nil
        }
    }
}

/// Reads challenges byte by byte. Commas separate both challenges and parameters, so the text after a name decides:
/// `name =` is a parameter of the challenge before it, and a name alone starts a challenge.
private struct ChallengeReader {
    private let bytes: [UInt8]
    private var position = 0
    private var challenges: [AuthenticationChallenge] = []

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    mutating func read() -> [AuthenticationChallenge] {
        while next != nil {
            skip { $0 == .comma || $0.isBlank }
            readElement()
            skipToComma()
        }
        return challenges
    }

    /// Reads one element of the list: a parameter, or a scheme and its first parameter.
    private mutating func readElement() {
        let name = readToken()
        guard !name.isEmpty else { return }
        skip(\.isBlank)
        if next == .equals { return readParameter(name) }
        challenges.append(AuthenticationChallenge(scheme: name.lowercased()))
        let parameter = readToken()
        skip(\.isBlank)
        // Without a value it is the token68 of a scheme such as `Negotiate`, which is not needed.
        if !parameter.isEmpty, next == .equals { readParameter(parameter) }
    }

    private mutating func readParameter(_ name: String) {
        position += 1
        skip(\.isBlank)
        let value = next == .quote ? readQuotedText() : readToken()
        guard !challenges.isEmpty, !value.isEmpty else { return }
        challenges[challenges.count - 1].add(name.lowercased(), value)
    }

    private mutating func readToken() -> String {
        let start = position
        skip(\.isTokenCharacter)
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func readQuotedText() -> String {
        position += 1
        var text: [UInt8] = []
        while let byte = next, byte != .quote {
            if byte == .backslash { position += 1 }
            if let byte = next { text.append(byte) }
            position += 1
        }
        position += 1
        return String(decoding: text, as: UTF8.self)
    }

    private mutating func skipToComma() {
        while let byte = next, byte != .comma {
            if byte == .quote { _ = readQuotedText() } else { position += 1 }
        }
    }

    private mutating func skip(_ isSkipped: (UInt8) -> Bool) {
        while let byte = next, isSkipped(byte) { position += 1 }
    }
}

extension UInt8 {
    fileprivate static let comma = UInt8(ascii: ",")
    fileprivate static let equals = UInt8(ascii: "=")
    fileprivate static let quote = UInt8(ascii: "\"")
    fileprivate static let backslash = UInt8(ascii: "\\")

    fileprivate var isBlank: Bool { self == 0x20 || self == 0x09 }

    /// A character of a token (RFC 9110 §5.6.2) or of a token68 (§11.2).
    fileprivate var isTokenCharacter: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default:
            "!#$%&'*+-.^_`|~/".utf8.contains(self)
        }
    }
}
