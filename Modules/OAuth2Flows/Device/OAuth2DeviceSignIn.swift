public import AuthInterface
public import ConcurrencyPrimitives
public import Foundation
public import NetworkCore

/// Signs in on a device without a browser, such as a terminal: the user enters a code on another device (RFC 8628).
///
/// ```swift
/// let signIn = OAuth2DeviceSignIn(server: server, client: .public(id: "cli"), network: client)
/// try await signIn.start(session) { code in print("Open \(code.verificationURI) and enter \(code.userCode)") }
/// ```
public struct OAuth2DeviceSignIn: Sendable {
    /// The longest sign-in, whatever the server allows.
    static let maximumDuration = Duration.seconds(30 * 60)

    /// The pause between two calls if the server names none (RFC 8628 §3.2).
    static let defaultInterval = Duration.seconds(5)

    /// The bounds of the pause between two calls.
    static let intervals = Duration.seconds(1)...Duration.seconds(120)

    /// Where the access token is to be used.
    public var target = OAuth2Target.unspecified

    /// Makes a key for the session and proves it, so that the tokens are bound to it (DPoP, RFC 9449). `nil`: they are
    /// bearer tokens. Set the one of the refresh handler.
    public var prover: DPoPProver?

    #if canImport(CryptoKit) || Crypto
    /// Checks the id token, where `openid` is in the scope. On Linux it needs the package trait `Crypto`, without which
    /// an id token is not looked at.
    public var idTokens: IDTokenValidator
    #endif

    private let server: OAuth2Server
    private let client: OAuth2Client
    private let network: any UnauthenticatedNetworkService
    private let scope: String?
    private let clock: any TimeSource

    /// Creates a sign-in. The server must have a device authorization endpoint. The scope is separated by spaces, and
    /// the clock is that of pauses and the deadline.
    public init(
        server: OAuth2Server, client: OAuth2Client, network: any UnauthenticatedNetworkService, scope: String? = nil,
        clock: any TimeSource = SystemTimeSource()
    ) {
        self.server = server
        self.client = client
        self.network = network
        self.scope = scope
        self.clock = clock
        client.assertion?.suppose(server.clock.shown)
        #if canImport(CryptoKit) || Crypto
        idTokens = IDTokenValidator(server: server, client: client, network: network)
        #endif
    }

    /// Asks for a code, shows it and its URL to the user, waits until the user has decided, and starts the session.
    /// Cancel the task to give up. Returns who has signed in, after all checks of OpenID Connect; `nil`: `openid` is
    /// not in the scope.
    ///
    /// - Throws: ``OAuth2SignInError``; the errors of the session's `signIn` and of `show`; `CancellationError`. An
    ///   earlier session stays.
    @discardableResult
    public func start(
        _ session: any AuthSession, show: @Sendable (OAuth2DeviceCode) async throws -> Void
    ) async throws -> IDToken? {
        guard let endpoint = server.deviceAuthorizationEndpoint else {
            throw OAuth2SignInError(.unsupported, reason: "the server has no device authorization endpoint")
        }
        let started = clock.uptime
        var parameters: QueryItems = ["scope": scope]
        parameters.append(target)
        let code: OAuth2DeviceCode
        do {
            code = try await client.send(parameters, to: endpoint, over: network) { .post(.url(endpoint), body: $0) }
        } catch let error as NetworkError {
            throw OAuth2SignInError(error, without: client.secrets)
        }
        try await show(code)
        let deadline = started + min(code.lifetime, Self.maximumDuration)
        let (tokens, idToken) = try await DPoPTokenCall.withNewKey(of: prover) {
            key -> (TokenRefreshResult, IDToken?) in
            let issued = try await self.tokens(for: code, key, until: deadline)
            let tokens = try issued.tokensOfSignIn(of: client, boundBy: key)
            #if canImport(CryptoKit) || Crypto
            return (tokens, try await idTokens.idToken(of: issued, scope: scope, nonce: nil))
            #else
            return (tokens, nil)
            #endif
        }
        try await session.signIn(tokens.ofSignIn(asking: scope, idToken))
        return idToken
    }

    /// Polls the token endpoint as RFC 8628 §3.4 and §3.5 define it, and as Twitch and Trakt do.
    private func tokens(
        for code: OAuth2DeviceCode, _ key: DPoPTokenCall?, until deadline: Duration
    ) async throws -> OAuth2TokenResponse {
        var interval = min(max(code.interval, Self.intervals.lowerBound), Self.intervals.upperBound)
        var pause = interval
        var failure: OAuth2SignInError?
        var isBare = false
        while true {
            guard clock.uptime + pause < deadline else {
                try await clock.sleep(until: deadline)
                let reason = failure.map { "; the last call failed: \($0)" } ?? ""
                throw OAuth2SignInError(
                    .expired, reason: "the user did not enter the code in time\(reason)", cause: failure)
            }
            try await clock.sleep(until: clock.uptime + pause)
            do {
                return try await poll(code, key)
            } catch let error as OAuth2SignInError {
                // The client's key cannot be used now.
                (failure, pause) = (error, min(pause * 2, Self.intervals.upperBound))
            } catch let error as NetworkError {
                let serverCode = error.codeOfPoll(afterBarePending: isBare)
                isBare = isBare || error.isBarePending
                switch serverCode {
                case "authorization_pending":
                    (pause, failure) = (interval, nil)
                case "slow_down":
                    interval = min(interval + .seconds(5), Self.intervals.upperBound)
                    (pause, failure) = (interval, nil)
                default:
                    let secrets = [code.deviceCode] + client.secrets
                    let described = OAuth2SignInError(error, serverCode: serverCode, without: secrets)
                    // G4: only an error of RFC 6749 §5.2, or what stands for one, is the server's. A network's sign-in
                    // page responds or redirects, and a gateway refuses: they are between, and the server is not
                    // reached.
                    let isRefusal = serverCode != nil && ![.unavailable, .redirected].contains(described.code)
                    guard !isRefusal else { throw described }
                    failure = described
                    // RFC 8628 §3.5: exponential backoff while the server cannot be reached.
                    pause = min(max(pause * 2, error.retryAfter ?? .zero), Self.intervals.upperBound)
                }
            }
        }
    }

    private func poll(_ code: OAuth2DeviceCode, _ key: DPoPTokenCall?) async throws -> OAuth2TokenResponse {
        var parameters: QueryItems = [
            "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": code.deviceCode,
        ]
        parameters.append(target)
        return try await client.send(parameters, to: server.tokenEndpoint, with: key, over: network) {
            .tokens(at: server.tokenEndpoint, $0)
        }
    }
}

/// What the user of a device sign-in is shown (RFC 8628 §3.2).
public struct OAuth2DeviceCode: Sendable {
    /// The code that the user enters.
    public let userCode: String

    /// The URL that the user opens on another device.
    public let verificationURI: URL

    /// The URL with the code in it, for a QR code; `nil` if the server has none.
    public let completeVerificationURI: URL?

    /// How long the code is valid.
    public let lifetime: Duration

    /// The pause between two calls.
    let interval: Duration

    /// The secret that the device exchanges for tokens.
    let deviceCode: String
}

extension OAuth2DeviceCode: Decodable {
    private enum CodingKeys: String, CodingKey {
        case interval
        case userCode = "user_code"
        case deviceCode = "device_code"
        case verificationURI = "verification_uri"
        /// The name in drafts of RFC 8628, which some servers keep.
        case verificationURL = "verification_url"
        case completeVerificationURI = "verification_uri_complete"
        case expiresIn = "expires_in"
    }

    /// Reads a response of a device authorization endpoint.
    ///
    /// - Throws: `DecodingError` when a required member is missing or empty, or a URL is not `https`.
    public init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: CodingKeys.self)
        func required(_ key: CodingKeys) throws -> String {
            let text = try object.decode(String.self, forKey: key)
            guard !text.isEmpty, !text.unicodeScalars.contains(where: CharacterSet.controlCharacters.contains) else {
                throw DecodingError.dataCorruptedError(
                    forKey: key, in: object, debugDescription: "empty, or with control characters")
            }
            return text
        }
        let key = object.contains(.verificationURI) ? CodingKeys.verificationURI : .verificationURL
        guard let url = URL(string: try required(key)), url.isSafeEndpoint else {
            throw DecodingError.dataCorruptedError(forKey: key, in: object, debugDescription: "not an https URL")
        }
        userCode = try required(.userCode)
        deviceCode = try required(.deviceCode)
        verificationURI = url
        completeVerificationURI = object.decodeTextIfPresent(forKey: .completeVerificationURI)
            .flatMap { URL(string: $0) }.flatMap { $0.isSafeEndpoint ? $0 : nil }
        lifetime = object.decodeLifetimeIfPresent(forKey: .expiresIn) ?? OAuth2DeviceSignIn.maximumDuration
        interval = object.decodeLifetimeIfPresent(forKey: .interval) ?? OAuth2DeviceSignIn.defaultInterval
    }
}

extension OAuth2DeviceCode: RedactedDescription {
    /// What the user is shown; never the device code (G17).
    public var description: String { "OAuth2DeviceCode(\(verificationURI), \(userCode))" }
}
