extension NetworkError {
    /// What went wrong.
    ///
    /// The set is open: later versions and transports add codes. Those of `AuthenticationError` are codes here too.
    public struct Code: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
        /// The code as text.
        public let rawValue: String

        /// Creates a code.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The code as text.
        public var description: String { rawValue }
    }
}

extension NetworkError {
    /// What a call waited for when its time was up (G25). The set is open.
    public struct Wait: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
        /// The wait as text.
        public let rawValue: String

        /// Creates a wait.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// An interceptor.
        public static let interceptor = Wait(rawValue: "an interceptor")

        /// A token: the refresh, or the token store.
        public static let token = Wait(rawValue: "a token")

        /// A connection: all that the transport may have were in use, or none could be made.
        public static let connection = Wait(rawValue: "a connection")

        /// The head of the response.
        public static let responseHead = Wait(rawValue: "the head of the response")

        /// The body of the response.
        public static let responseBody = Wait(rawValue: "the body of the response")

        /// The body of the request: its sequence, or its transfer.
        public static let requestBody = Wait(rawValue: "the body of the request")

        /// The wait as text.
        public var description: String { rawValue }
    }
}

/// Nothing was sent.
extension NetworkError.Code {
    /// The endpoint, or what an interceptor made of it, is not a request that can be sent.
    public static let invalidRequest = Self(rawValue: "invalidRequest")

    /// The body could not be encoded, or its file or stream could not be opened.
    public static let encodingFailed = Self(rawValue: "encodingFailed")

    /// The URL is plain http and not loopback (G16).
    public static let cleartextRefused = Self(rawValue: "cleartextRefused")

    /// The call had to start earlier, or was withdrawn: no byte of it was written, or none of its body (G28).
    public static let notStarted = Self(rawValue: "notStarted")

    /// An interceptor threw an error.
    public static let interceptorFailed = Self(rawValue: "interceptorFailed")
}

/// There was no response, or an incomplete one.
extension NetworkError.Code {
    /// No connection could be made, or it was lost.
    public static let connectionFailed = Self(rawValue: "connectionFailed")

    /// A time limit was reached: the deadline of the call or of one of its waits, the idle timeout, in which nothing
    /// was sent or received, or the minimum rate of a transfer. ``NetworkError/waitedFor`` says what it waited for.
    public static let timedOut = Self(rawValue: "timedOut")

    /// A proxy requires credentials, or does not accept those sent. It is the proxy's response, never the server's.
    public static let proxyRefused = Self(rawValue: "proxyRefused")

    /// The server could not prove its identity. Linux reports `transportFailed` instead.
    public static let tlsFailed = Self(rawValue: "tlsFailed")

    /// The exchange failed in another way.
    public static let transportFailed = Self(rawValue: "transportFailed")
}

/// There was a response, and the call failed.
extension NetworkError.Code {
    /// The status is not one of the accepted ones.
    public static let unacceptableStatus = Self(rawValue: "unacceptableStatus")

    /// The status was accepted, and the body says that the call failed: `"success": false`.
    public static let unsuccessful = Self(rawValue: "unsuccessful")

    /// The response could not be decoded as the expected type.
    public static let decodingFailed = Self(rawValue: "decodingFailed")

    /// The response is no valid HTTP, its head contradicts itself, as by two lengths or two targets of a redirect, its
    /// compression is damaged, or a part of a file is not the one that was requested.
    public static let invalidResponse = Self(rawValue: "invalidResponse")

    /// The response is larger than the configuration allows.
    public static let responseTooLarge = Self(rawValue: "responseTooLarge")

    /// The body of the response arrived faster than it was read, over a transport that cannot make the server wait:
    /// `URLSession` on Linux. A download goes on in smaller parts where the server sends parts.
    public static let readTooSlowly = Self(rawValue: "readTooSlowly")

    /// An unsafe redirect was not followed.
    public static let redirectRefused = Self(rawValue: "redirectRefused")

    /// There were more redirects than the configuration allows, or they form a loop.
    public static let tooManyRedirects = Self(rawValue: "tooManyRedirects")

    /// The request had to be sent again, and its body cannot be (G21).
    public static let bodyNotReplayable = Self(rawValue: "bodyNotReplayable")
}

/// There was no token for the request, or the server refused it. ``NetworkError/authentication`` has details.
extension NetworkError.Code {
    /// No user is signed in.
    public static let notSignedIn = Self(rawValue: "notSignedIn")

    /// The session in which the request started has ended. The request was not sent as another user (G23).
    public static let sessionEnded = Self(rawValue: "sessionEnded")

    /// The server refuses a token that it has just issued (G10).
    public static let unauthorized = Self(rawValue: "unauthorized")

    /// The server demands a stronger, a more recent or a wider sign-in for this call (G32). The token is valid, and the
    /// session stays. ``NetworkError/stepUp`` says what is demanded.
    public static let stepUpRequired = Self(rawValue: "stepUpRequired")

    /// The access token is no longer valid, and there is no refresh token (G22).
    public static let noRefreshToken = Self(rawValue: "noRefreshToken")

    /// The placement of tokens needs the refresh token, and a follower has none (G29). The request was not sent.
    public static let followerHasNoRefreshToken = Self(rawValue: "followerHasNoRefreshToken")

    /// The session's tokens are bound to a key, and the request would carry one without a proof (G34).
    public static let proofRequired = Self(rawValue: "proofRequired")

    /// A refresh was needed and is unavailable now. The session stays.
    public static let refreshUnavailable = Self(rawValue: "refreshUnavailable")

    /// The token store is unavailable now. The session stays.
    public static let storeUnavailable = Self(rawValue: "storeUnavailable")

    /// A token provider threw an error other than `AuthenticationError`.
    public static let authenticationFailed = Self(rawValue: "authenticationFailed")
}
