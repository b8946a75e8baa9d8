import ConcurrencyPrimitives
public import Foundation

extension NetworkError: LocalizedError {
    /// A sentence for the user of an application, without a code or a secret: what the code means; where the server has
    /// refused the call, its own message if it is meant for users, or what the status means.
    public var errorDescription: String? {
        if let sentence = Self.sentence(for: code) { return sentence }
        let isRefusal = code == .unacceptableStatus || code == .unsuccessful
        return messageForUsers ?? status.flatMap(Self.sentence(forStatus:))
            ?? (isRefusal ? "The server did not accept the request." : "The request could not be sent.")
    }

    /// What the user can do; `nil` where that is not known.
    public var recoverySuggestion: String? {
        if let retryAfter, retryAfter > .zero { return "Try again in \(retryAfter.inWords)." }
        switch code {
        case .notSignedIn, .sessionEnded, .unauthorized, .noRefreshToken, .authenticationFailed: return "Sign in again."
        case .stepUpRequired: return "Sign in again to do this."
        case .connectionFailed, .timedOut: return "Check the connection to the internet, and try again."
        case .proxyRefused: return "Check the proxy in the settings of the network."
        case .tlsFailed: return "Check the date of this device, or use another network."
        case .refreshUnavailable, .storeUnavailable, .transportFailed, .invalidResponse: return "Try again later."
        case .unacceptableStatus:
            switch status ?? 0 {
            case 401: return "Sign in again."
            case 408, 425, 429, 500...599: return "Try again later."
            default: return nil
            }
        default: return nil
        }
    }

    /// The server's message, where the call is at fault and the message reads as a sentence.
    private var messageForUsers: String? {
        guard code == .unacceptableStatus || code == .unsuccessful, (status ?? 0) < 500,
            let message = serverError?.message, (try? decode(OAuth2Error.self)) == nil
        else { return nil }
        return message.readsAsSentence ? message : nil
    }

    /// The error of an OAuth 2 server, whose description is for the developer of a client (RFC 6749 §5.2).
    private struct OAuth2Error: Decodable {
        private enum CodingKeys: String, CodingKey { case description = "error_description" }

        let description: String
    }

    private static func sentence(forStatus status: Int) -> String? {
        switch status {
        case 401: "You are not signed in."
        case 403: "You do not have permission to do this."
        case 404, 410: "This could not be found."
        case 408: "The server did not respond in time."
        case 409, 412: "This was changed in the meantime."
        case 413: "This is too large for the server."
        case 415: "The server does not support this kind of file."
        case 425, 429: "There were too many requests."
        case 503: "The server is not available."
        case 400...499: "The server did not accept the request."
        case 500...599: "The server has a problem."
        default: nil
        }
    }

    /// `nil`: the code says less than the response.
    private static func sentence(for code: Code) -> String? {
        switch code {
        case .connectionFailed: "The server could not be reached."
        case .timedOut: "The server did not respond in time."
        case .proxyRefused: "The proxy of this network refused the connection."
        case .tlsFailed: "No secure connection to the server could be made."
        case .transportFailed: "The connection to the server failed."
        case .notSignedIn: "You are not signed in."
        case .sessionEnded: "The session has ended."
        case .unauthorized, .noRefreshToken, .authenticationFailed: "The server does not accept the sign-in any more."
        case .stepUpRequired: "The server asks for another sign-in before it does this."
        case .refreshUnavailable: "The sign-in could not be renewed."
        case .storeUnavailable: "The stored sign-in cannot be read."
        case .proofRequired, .followerHasNoRefreshToken: "The request could not be sent."
        case .encodingFailed, .bodyNotReplayable: "The content could not be sent."
        case .decodingFailed, .invalidResponse, .responseTooLarge, .readTooSlowly:
            "The response of the server could not be read."
        case .redirectRefused, .tooManyRedirects, .cleartextRefused: "The server's address is not safe to use."
        default: nil
        }
    }
}

extension String {
    /// The reason phrases and stock texts of servers, in lower case.
    private static let stockMessages: Set = [
        "bad request", "not found", "method not allowed", "not acceptable", "request timeout", "payload too large",
        "too many requests", "unprocessable entity", "validation failed", "precondition failed", "access denied",
    ]

    /// Whether a server's text can be shown to a user: a short line of several words, without the punctuation of code.
    fileprivate var readsAsSentence: Bool {
        guard (3...200).contains(count), !contains(Redaction.placeholder),
            !Self.stockMessages.contains(lowercased().trimmingCharacters(in: .punctuationCharacters))
        else { return false }
        let isCode = unicodeScalars.contains { scalar in
            scalar.properties.generalCategory == .control || "{}<>=_\\`;".unicodeScalars.contains(scalar)
        }
        // Scripts such as Japanese have no spaces.
        return !isCode && (contains(" ") || !utf8.allSatisfy { $0 < 0x80 })
    }
}

extension HTTPTransportError: LocalizedError {
    /// A sentence for the user of an application.
    public var errorDescription: String? { NetworkError(code).errorDescription }

    /// What the user can do.
    public var recoverySuggestion: String? { NetworkError(code).recoverySuggestion }
}

extension HTTPBodyError: LocalizedError {
    /// A sentence for the user of an application.
    public var errorDescription: String? {
        switch code {
        case .unreadable: "The file cannot be read."
        case .wrongLength: "The file was changed while it was sent."
        case .tooLong: "The response of the server is too large."
        default: "The content could not be sent."
        }
    }
}

extension HTTPFieldError: LocalizedError {
    /// A sentence for the user of an application.
    public var errorDescription: String? { "The request could not be sent." }
}

extension DecodingFailure: LocalizedError {
    /// A sentence for the user of an application.
    public var errorDescription: String? { "The response of the server could not be read." }
}

extension ServerError: LocalizedError {
    /// A sentence for the user of an application.
    public var errorDescription: String? { NetworkError(.unsuccessful, serverError: self).errorDescription }
}
