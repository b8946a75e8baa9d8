import Foundation

extension DevBackend {
    /// How the server writes identifiers, tokens and responses: real servers differ in these points.
    public struct Dialect: Sendable, Hashable {
        /// How identifiers of users and articles are written.
        public enum Identifiers: Sendable, Hashable {
            /// As JSON numbers.
            case numbers
            /// As JSON strings in the form of a UUID.
            case text
        }

        /// How identifiers are written.
        public var identifiers = Identifiers.numbers

        /// Whether responses are in the envelope. Without it a response is its payload, or an object with `code` and
        /// `message`.
        public var wrapsResponses = true

        /// Whether each response with tokens has the expiry of the access token as `expiresAt`, an ISO 8601 date.
        public var sendsExpiry = false

        /// The status of the response to an expired access token.
        public var expiredTokenStatus = ExpiredTokenStatus.unauthorized

        /// A header field that may carry the access token instead of `Authorization`, such as `accessToken`.
        public var accessTokenField: String?

        /// A header field that may carry the refresh token of a refresh call instead of the body.
        public var refreshTokenField: String?

        /// Whether a refresh needs the access token of the session, expired or not: as `accessToken` in the body, or
        /// where any other request has it.
        public var refreshNeedsAccessToken = false

        /// Creates the dialect of numbers, envelopes, bearer tokens, and 401 for an expired token.
        public init() {}

        /// Tokens are in the header fields `accessToken` and `refreshToken`, and a refresh needs both.
        public static let tokenFields: Dialect = {
            var dialect = Dialect()
            dialect.accessTokenField = "accessToken"
            dialect.refreshTokenField = "refreshToken"
            dialect.refreshNeedsAccessToken = true
            return dialect
        }()
    }

    /// The status of the response to an expired access token. An invalid or revoked one always gets 401.
    public enum ExpiredTokenStatus: Int, Sendable, Codable, CaseIterable {
        /// 401, as in RFC 6750 §3.1.
        case unauthorized = 401
        /// 419, unregistered but widespread.
        case authenticationTimeout = 419
    }
}

extension DevBackend.Dialect.Identifiers {
    /// The text forms of an identifier: that of a UUID of version 8 (RFC 9562 §5.8), whose last 48 bits are the number.
    private static let prefix = "00000000-0000-8000-8000-"

    /// The identifier as text.
    func text(_ number: Int64) -> String {
        guard self == .text else { return String(number) }
        let digits = String(number, radix: 16)
        return Self.prefix + String(repeating: "0", count: max(0, 12 - digits.count)) + digits
    }

    /// The number of an identifier in text form; nil for any other text.
    func number(_ text: String) -> Int64? {
        guard self == .text else { return Int64(text) }
        guard text.hasPrefix(Self.prefix), let number = Int64(text.dropFirst(Self.prefix.count), radix: 16),
            self.text(number) == text
        else { return nil }
        return number
    }
}

extension CodingUserInfoKey {
    /// The form of the identifiers that an encoder writes.
    // swift-format-ignore: NeverForceUnwrap
    static let identifiers = Self(rawValue: "identifiers")!
}

/// An identifier in a response, written as the dialect says.
struct PublicID: Encodable, Sendable, Hashable {
    let number: Int64

    func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        let form = encoder.userInfo[.identifiers] as? DevBackend.Dialect.Identifiers ?? .numbers
        switch form {
        case .numbers: try value.encode(number)
        case .text: try value.encode(form.text(number))
        }
    }
}
