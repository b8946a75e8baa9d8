extension NetworkError {
    /// What went wrong.
    ///
    /// The set is open: later versions and other transports add codes. The codes of `AuthenticationError` are codes
    /// here too, of the same names.
    public struct Code: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
        /// The code as text.
        public let rawValue: String

        /// Creates a code.
        ///
        /// - Parameter rawValue: The code as text.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The code as text.
        public var description: String { rawValue }
    }
}

/// Nothing was sent.
extension NetworkError.Code {
    /// The endpoint, or what an interceptor made of it, is no request that can be sent.
    public static let invalidRequest = Self(rawValue: "invalidRequest")

    /// The body could not be encoded, or its file or stream not opened.
    public static let encodingFailed = Self(rawValue: "encodingFailed")

    /// The address is plain http and not loopback (G16).
    public static let cleartextRefused = Self(rawValue: "cleartextRefused")

    /// An interceptor threw.
    public static let interceptorFailed = Self(rawValue: "interceptorFailed")
}

/// There was no answer, or not all of one.
extension NetworkError.Code {
    /// No connection could be made, or it was lost.
    public static let connectionFailed = Self(rawValue: "connectionFailed")

    /// Nothing was sent or received for too long.
    public static let timedOut = Self(rawValue: "timedOut")

    /// The server could not prove who it is. Linux reports `transportFailed` instead.
    public static let tlsFailed = Self(rawValue: "tlsFailed")

    /// The exchange failed in another way.
    public static let transportFailed = Self(rawValue: "transportFailed")
}

/// There was an answer, and it was not good.
extension NetworkError.Code {
    /// The status is outside the accepted range (row N6).
    public static let unacceptableStatus = Self(rawValue: "unacceptableStatus")

    /// The status was accepted, and the answer itself says that the call failed: `"success": false` (row N7).
    public static let unsuccessful = Self(rawValue: "unsuccessful")

    /// The answer could not be read as what was expected.
    public static let decodingFailed = Self(rawValue: "decodingFailed")

    /// The head of the response contradicts itself: two lengths, or two targets of a redirect.
    public static let invalidResponse = Self(rawValue: "invalidResponse")

    /// The answer is larger than the configuration allows.
    public static let responseTooLarge = Self(rawValue: "responseTooLarge")

    /// A redirect that would be unsafe was not followed.
    public static let redirectRefused = Self(rawValue: "redirectRefused")

    /// There were more redirects than the configuration allows, or they went in a circle.
    public static let tooManyRedirects = Self(rawValue: "tooManyRedirects")

    /// The request should be sent again and its body cannot be (G21).
    public static let bodyNotReplayable = Self(rawValue: "bodyNotReplayable")
}

/// There was no token for the request, or none that the server takes. `authentication` of the error has more.
extension NetworkError.Code {
    /// Nobody is signed in.
    public static let notSignedIn = Self(rawValue: "notSignedIn")

    /// The session the request began with is over. It was not sent again as somebody else (G23).
    public static let sessionEnded = Self(rawValue: "sessionEnded")

    /// The server refuses even a token that was just issued (G10).
    public static let unauthorized = Self(rawValue: "unauthorized")

    /// The access token is no longer good and there is no refresh token (G22).
    public static let noRefreshToken = Self(rawValue: "noRefreshToken")

    /// A refresh was needed and could not be had now. The session stays.
    public static let refreshUnavailable = Self(rawValue: "refreshUnavailable")

    /// The token store cannot answer now. The session stays.
    public static let storeUnavailable = Self(rawValue: "storeUnavailable")

    /// A token provider threw something other than `AuthenticationError`.
    public static let authenticationFailed = Self(rawValue: "authenticationFailed")
}
