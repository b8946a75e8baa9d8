public import Foundation

/// Reads responses as another format does, and passes the server's `Date` of the response to the decoded value.
///
/// Tokens need it: their lifetime counts from that instant, so that a wrong clock of the device does no harm (G19).
public struct DatedFormat: ResponseFormat {
    private let base: any ResponseFormat

    /// Creates a format.
    ///
    /// - Parameter base: The format that reads the responses.
    public init(_ base: any ResponseFormat) {
        self.base = base
    }

    /// Reads the value of an accepted response.
    ///
    /// - Parameters:
    ///   - type: The value's type.
    ///   - response: The response.
    ///   - decoder: The decoder of the configuration.
    /// - Returns: The value.
    /// - Throws: The errors of the base format.
    public func value<Value: Decodable>(
        _ type: Value.Type,
        from response: HTTPResponse,
        using decoder: JSONDecoder
    ) throws -> Value {
        if let key = CodingUserInfoKey.responseDate { decoder.userInfo[key] = response.head.serverDate }
        return try base.value(type, from: response, using: decoder)
    }

    /// Checks an accepted response whose value is not needed.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - decoder: The decoder of the configuration.
    /// - Throws: The errors of the base format.
    public func check(_ response: HTTPResponse, using decoder: JSONDecoder) throws {
        try base.check(response, using: decoder)
    }

    /// Reads the error object of a refused response.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - decoder: The decoder of the configuration.
    /// - Returns: The error object, as the base format reads it.
    public func failure(from response: HTTPResponse, using decoder: JSONDecoder) -> ErrorEnvelope? {
        base.failure(from: response, using: decoder)
    }
}

extension ResponseFormat where Self == DatedFormat {
    /// Reads responses as another format does, and passes the server's `Date` of the response to the decoded value.
    ///
    /// - Parameter base: The format that reads the responses.
    /// - Returns: The format.
    public static func dated(_ base: any ResponseFormat) -> DatedFormat { DatedFormat(base) }
}

extension Decoder {
    /// The `Date` of the response, where ``DatedFormat`` reads it.
    package var responseDate: Date? { CodingUserInfoKey.responseDate.flatMap { userInfo[$0] as? Date } }
}

extension CodingUserInfoKey {
    fileprivate static let responseDate = CodingUserInfoKey(rawValue: "latchkey.responseDate")
}
