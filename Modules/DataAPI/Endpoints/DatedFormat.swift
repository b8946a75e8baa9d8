public import Foundation
public import NetworkCore

/// Reads responses as another format does, and tells the value when the server sent its response.
///
/// Tokens need it: the lifetime of one counts from that instant, on any clock of the device (G19).
public struct DatedFormat: ResponseFormat {
    private let base: any ResponseFormat

    /// Creates a format.
    ///
    /// - Parameter base: How responses are wrapped.
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
    /// - Throws: What the format underneath throws.
    public func value<Value: Decodable>(
        _ type: Value.Type,
        from response: HTTPResponse,
        using decoder: JSONDecoder
    ) throws -> Value {
        if let key = CodingUserInfoKey.answeredAt { decoder.userInfo[key] = response.head.serverDate }
        return try base.value(type, from: response, using: decoder)
    }

    /// Checks an accepted response of which no value is wanted.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - decoder: The decoder of the configuration.
    /// - Throws: What the format underneath throws.
    public func check(_ response: HTTPResponse, using decoder: JSONDecoder) throws {
        try base.check(response, using: decoder)
    }

    /// Reads what a refused response says about the error.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - decoder: The decoder of the configuration.
    /// - Returns: What the format underneath makes of it.
    public func failure(from response: HTTPResponse, using decoder: JSONDecoder) -> ErrorEnvelope? {
        base.failure(from: response, using: decoder)
    }
}

extension ResponseFormat where Self == DatedFormat {
    /// Reads responses as another format does, and tells the value when the server sent its response.
    ///
    /// - Parameter base: How responses are wrapped.
    /// - Returns: The format.
    public static func dated(_ base: any ResponseFormat) -> DatedFormat { DatedFormat(base) }
}

extension Decoder {
    /// The time of the response on the server's clock, where ``DatedFormat`` reads it.
    var answeredAt: Date? { CodingUserInfoKey.answeredAt.flatMap { userInfo[$0] as? Date } }
}

extension CodingUserInfoKey {
    fileprivate static let answeredAt = CodingUserInfoKey(rawValue: "latchkey.answeredAt")
}
