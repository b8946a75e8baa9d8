package import NetworkCore

/// The statuses, media types and failures that the verdict of every refresh handler is tested with.
package enum RefusalCases {
    package static let statuses = [
        200, 302, 400, 401, 402, 403, 404, 405, 407, 408, 409, 410, 413, 419, 422, 425, 429, 451, 498, 500, 501, 502,
        503, 504, 511, 520,
    ]

    /// `nil` sends no media type.
    package static let mediaTypes = [
        nil, "application/json", "application/problem+json", "text/plain", "text/html; charset=x",
    ]

    /// The failures after which no whole response arrived.
    package static let lost: [NetworkError.Code] = [.connectionFailed, .timedOut, .tlsFailed, .transportFailed]
}
