public import struct Foundation.Date

/// What is known about why a session expired (G24). Every field is optional, and none is a secret.
public struct SessionEnding: Sendable, Hashable, Codable {
    /// The HTTP status of the response that ended the session.
    public var status: Int?

    /// The server's own error code, such as `invalid_grant`.
    public var code: String?

    /// The identifier of the request in the server's log.
    public var requestID: String?

    /// The challenge of the server directly before the response, such as `use_dpop_nonce`: the call was made once more
    /// for it, as the server asked.
    public var challenge: String?

    /// When the session ended, on the clock of the device.
    public var date: Date?

    /// The process that received the response.
    public var process: String?

    /// Creates an ending.
    public init(
        status: Int? = nil, code: String? = nil, requestID: String? = nil, date: Date? = nil, process: String? = nil
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
        if let code { parts.append(challenge.map { "\(code) after \($0)" } ?? code) }
        if let requestID { parts.append("request \(requestID)") }
        if let process { parts.append("process \(process)") }
        if let date { parts.append(date.shown) }
        return parts.joined(separator: ", ")
    }
}
