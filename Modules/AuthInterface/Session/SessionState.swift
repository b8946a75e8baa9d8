public import struct Foundation.Date

/// The state of a session: unknown, signed out or signed in.
public enum SessionState: Sendable, Hashable {
    /// The store has not been read yet, so this is not known: show the splash screen.
    case unknown

    /// No user is signed in, for this reason.
    case signedOut(SignOutReason)

    /// There is a session.
    case signedIn(SessionID)
}

/// Why there is no session.
///
/// Two reasons are equal when they are of one kind. Equality ignores the details of an expired session (its
/// ``SessionEnding``), so that a test or a screen can compare with `.expired()`.
public enum SignOutReason: Sendable {
    /// Nothing was stored: there has been no sign-in yet.
    case never

    /// The user signed out, in this process or in another one that shares the store.
    case byUser

    /// The authorization server refused the refresh token, or the access token expired and there is no refresh token.
    /// These are the only reasons for which the engine itself ends a session.
    case expired(SessionEnding)

    /// The application ended the session for a reason of its own, such as "account disabled".
    case application(String)

    /// The session was moved out of this store and continues elsewhere. Its tokens are not revoked.
    case moved

    /// The session expired, with no details known.
    public static func expired() -> SignOutReason { .expired(SessionEnding()) }

    /// Whether the session expired. The details do not matter.
    public var isExpired: Bool {
        if case .expired = self { true } else { false }
    }
}

extension SignOutReason: Hashable {
    /// Compares the kinds, and an application's reasons by their text.
    public static func == (first: SignOutReason, second: SignOutReason) -> Bool {
        switch (first, second) {
        case (.never, .never), (.byUser, .byUser), (.expired, .expired), (.moved, .moved): true
        case (.application(let first), .application(let second)): first == second
        default: false
        }
    }

    /// Hashes the kind, and an application's text.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .never: hasher.combine(0)
        case .byUser: hasher.combine(1)
        case .expired: hasher.combine(2)
        case .application(let text): hasher.combine(text)
        case .moved: hasher.combine(3)
        }
    }
}

/// What is known about why a session expired (G24). Every field is optional, and none is a secret.
public struct SessionEnding: Sendable, Hashable, Codable {
    /// The HTTP status of the response that ended the session.
    public var status: Int?

    /// The server's own error code, such as `invalid_grant`.
    public var code: String?

    /// The identifier of the request in the server's log.
    public var requestID: String?

    /// When the session ended, on the clock of the device.
    public var date: Date?

    /// The process that received the response.
    public var process: String?

    /// Creates an ending.
    ///
    /// - Parameters:
    ///   - status: The HTTP status of the response that ended the session.
    ///   - code: The server's own error code.
    ///   - requestID: The identifier of the request in the server's log.
    ///   - date: When the session ended.
    ///   - process: The process that received the response.
    public init(
        status: Int? = nil,
        code: String? = nil,
        requestID: String? = nil,
        date: Date? = nil,
        process: String? = nil
    ) {
        self.status = status
        self.code = code
        self.requestID = requestID
        self.date = date
        self.process = process
    }
}

extension SessionEnding: CustomStringConvertible {
    /// The known fields in one line; empty when nothing is known.
    public var description: String {
        var parts: [String] = []
        if let status { parts.append("HTTP \(status)") }
        if let code { parts.append(code) }
        if let requestID { parts.append("request \(requestID)") }
        if let process { parts.append("process \(process)") }
        if let date { parts.append(date.formatted(.iso8601)) }
        return parts.joined(separator: ", ")
    }
}
