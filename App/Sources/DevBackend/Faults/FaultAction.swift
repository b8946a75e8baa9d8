public import Foundation

/// A fault of one request.
public enum FaultAction: Sendable, Hashable {
    /// The request waits this long, then continues.
    case delay(Duration)
    /// The request waits between zero and this long, drawn from the plan's seed, then continues.
    case jitter(upTo: Duration)
    /// The handler runs and commits at once; its response waits this long.
    ///
    /// On a refresh the token is rotated at once, and the client gets the new one late.
    case delayResponse(Duration)
    /// The handler runs and commits at once; its response waits between zero and this long, drawn from the plan's seed.
    case jitterResponse(upTo: Duration)
    /// The handler does not run; the response has this status, in the envelope (an OAuth 2.0 error under `/oauth2`).
    ///
    /// `retryAfter` becomes a `Retry-After` field in whole seconds, rounded up; `code` the envelope's code.
    case respond(status: Int, retryAfter: Duration? = nil, code: String? = nil)
    /// The handler does not run; the response is 401 `TOKEN_INVALID` for any token.
    case refuseToken
    /// The handler does not run; the response redirects to this URL with 301, 302, 303, 307 or 308.
    case redirect(to: URL, status: Int = 307)
    /// The handler does not run; the response is that of a gateway in front of the server.
    case gateway(GatewayResponse)
    /// The connection is closed before the handler runs.
    case closeBeforeHandler
    /// The handler runs and commits, then the connection is closed: the response is lost.
    case closeAfterHandler
    /// The handler runs and commits; the connection is closed after this many bytes of the response's body, or at its
    /// end.
    case cutResponse(afterBytes: Int)
}

extension FaultAction: Codable {
    private enum Kind: String, Codable {
        case delay, jitter, delayResponse, jitterResponse
        case respond, refuseToken, redirect, gateway, closeBeforeHandler, closeAfterHandler, cutResponse
    }

    fileprivate enum CodingKeys: String, CodingKey {
        case kind, milliseconds, status, retryAfterSeconds, code, url, response, bytes
    }

    /// Reads `{"kind": "respond", "status": 503, "retryAfterSeconds": 2}`, and the other kinds in the same form.
    ///
    /// - Throws: `DecodingError` when the kind is unknown or one of its fields is missing or out of range.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        switch try container.decode(Kind.self, forKey: .kind) {
        case .delay: self = .delay(try container.milliseconds())
        case .jitter: self = .jitter(upTo: try container.milliseconds())
        case .delayResponse: self = .delayResponse(try container.milliseconds())
        case .jitterResponse: self = .jitterResponse(upTo: try container.milliseconds())
        case .respond:
            let seconds = try container.decodeIfPresent(Int.self, forKey: .retryAfterSeconds)
            self = .respond(
                status: try container.status(in: 200...599),
                retryAfter: seconds.map { .seconds($0) },
                code: try container.decodeIfPresent(String.self, forKey: .code)
            )
        case .refuseToken: self = .refuseToken
        case .redirect:
            let url = try container.decode(URL.self, forKey: .url)
            self = .redirect(to: url, status: try container.status(in: 300...399))
        case .gateway: self = .gateway(try container.gatewayResponse())
        case .closeBeforeHandler: self = .closeBeforeHandler
        case .closeAfterHandler: self = .closeAfterHandler
        case .cutResponse: self = .cutResponse(afterBytes: max(0, try container.decode(Int.self, forKey: .bytes)))
        }
    }

    /// Writes the form that `init(from:)` reads. Durations keep whole milliseconds, `Retry-After` whole seconds.
    ///
    /// - Throws: What the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(kind, forKey: .kind)
        switch self {
        case .delay(let duration), .jitter(let duration), .delayResponse(let duration), .jitterResponse(let duration):
            try container.encode(duration.wholeMilliseconds, forKey: .milliseconds)
        case .respond(let status, let retryAfter, let code):
            try container.encode(status, forKey: .status)
            try container.encodeIfPresent(retryAfter?.secondsRoundedUp, forKey: .retryAfterSeconds)
            try container.encodeIfPresent(code, forKey: .code)
        case .redirect(let url, let status):
            try container.encode(url, forKey: .url)
            try container.encode(status, forKey: .status)
        case .gateway(let response): try container.encode(response, forKey: .response)
        case .cutResponse(let count): try container.encode(count, forKey: .bytes)
        case .refuseToken, .closeBeforeHandler, .closeAfterHandler: break
        }
    }

    private var kind: Kind {
        switch self {
        case .delay: .delay
        case .jitter: .jitter
        case .delayResponse: .delayResponse
        case .jitterResponse: .jitterResponse
        case .respond: .respond
        case .refuseToken: .refuseToken
        case .redirect: .redirect
        case .gateway: .gateway
        case .closeBeforeHandler: .closeBeforeHandler
        case .closeAfterHandler: .closeAfterHandler
        case .cutResponse: .cutResponse
        }
    }
}

extension KeyedDecodingContainer<FaultAction.CodingKeys> {
    fileprivate func milliseconds() throws -> Duration {
        let count = try decode(Int.self, forKey: .milliseconds)
        guard (0...600_000).contains(count) else {
            throw DecodingError.dataCorruptedError(
                forKey: .milliseconds, in: self, debugDescription: "Must be between 0 and 600000.")
        }
        return .milliseconds(count)
    }

    fileprivate func gatewayResponse() throws -> GatewayResponse {
        let response = try decode(GatewayResponse.self, forKey: .response)
        guard (200...599).contains(response.status) else {
            throw DecodingError.dataCorruptedError(
                forKey: .response, in: self, debugDescription: "Its status must be in 200…599.")
        }
        return response
    }

    fileprivate func status(in range: ClosedRange<Int>) throws -> Int {
        let status = try decode(Int.self, forKey: .status)
        guard range.contains(status) else {
            throw DecodingError.dataCorruptedError(
                forKey: .status, in: self, debugDescription: "Must be in \(range.lowerBound)…\(range.upperBound).")
        }
        return status
    }
}
