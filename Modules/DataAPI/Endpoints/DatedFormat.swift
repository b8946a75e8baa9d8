public import Foundation
public import NetworkCore

/// Reads answers as another format does, and lets a value see when its server says that it answered.
///
/// Tokens need it: how long one is good counts from that instant, whatever clock the device has (G19).
public struct DatedFormat: ResponseFormat {
    private let base: any ResponseFormat

    /// Creates a format.
    ///
    /// - Parameter base: How answers are wrapped.
    public init(_ base: any ResponseFormat) {
        self.base = base
    }

    /// Reads the value of an accepted answer.
    ///
    /// - Parameters:
    ///   - type: The value's type.
    ///   - response: The answer.
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

    /// Checks an accepted answer of which no value is wanted.
    ///
    /// - Parameters:
    ///   - response: The answer.
    ///   - decoder: The decoder of the configuration.
    /// - Throws: What the format underneath throws.
    public func check(_ response: HTTPResponse, using decoder: JSONDecoder) throws {
        try base.check(response, using: decoder)
    }

    /// Reads what a refused answer says about the error.
    ///
    /// - Parameters:
    ///   - response: The answer.
    ///   - decoder: The decoder of the configuration.
    /// - Returns: What the format underneath makes of it.
    public func failure(from response: HTTPResponse, using decoder: JSONDecoder) -> ErrorEnvelope? {
        base.failure(from: response, using: decoder)
    }
}

extension ResponseFormat where Self == DatedFormat {
    /// Reads answers as another format does, and lets a value see when its server says that it answered.
    ///
    /// - Parameter base: How answers are wrapped.
    /// - Returns: The format.
    public static func dated(_ base: any ResponseFormat) -> DatedFormat { DatedFormat(base) }
}

extension Decoder {
    /// When the server says that it answered, where ``DatedFormat`` reads the answer.
    var answeredAt: Date? { CodingUserInfoKey.answeredAt.flatMap { userInfo[$0] as? Date } }
}

extension CodingUserInfoKey {
    fileprivate static let answeredAt = CodingUserInfoKey(rawValue: "latchkey.answeredAt")
}
