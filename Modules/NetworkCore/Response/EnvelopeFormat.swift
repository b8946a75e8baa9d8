public import Foundation

/// Every response is a ``ResponseEnvelope``, and the value is its `data`.
public struct EnvelopeFormat: ResponseFormat {
    private struct SuccessFlag: Decodable {
        let success: Bool
    }

    private struct RequiredData<Value: Decodable>: Decodable {
        let data: Value
    }

    /// Creates the format.
    public init() {}

    /// Reads `data` of the envelope.
    ///
    /// - Parameters:
    ///   - type: The type of the value. An optional type accepts an envelope without `data`.
    ///   - response: The response.
    ///   - decoder: The decoder of the configuration.
    /// - Returns: The value.
    /// - Throws: `DecodingError`, or ``ErrorEnvelope`` when `success` is `false`.
    public func value<Value: Decodable>(
        _ type: Value.Type,
        from response: HTTPResponse,
        using decoder: JSONDecoder
    ) throws -> Value {
        try check(response, using: decoder)
        return try decoder.decode(RequiredData<Value>.self, from: response.body).data
    }

    /// Checks `success`. A body that is empty or no envelope is accepted.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - decoder: The decoder of the configuration.
    /// - Throws: ``ErrorEnvelope`` when `success` is `false`.
    public func check(_ response: HTTPResponse, using decoder: JSONDecoder) throws {
        guard let flag = try? decoder.decode(SuccessFlag.self, from: response.body), !flag.success else { return }
        throw failure(from: response, using: decoder) ?? ErrorEnvelope()
    }

    /// Reads the envelope of an error.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - decoder: The decoder of the configuration.
    /// - Returns: The error. `nil`: the body is no envelope.
    public func failure(from response: HTTPResponse, using decoder: JSONDecoder) -> ErrorEnvelope? {
        try? decoder.decode(ErrorEnvelope.self, from: response.body)
    }
}

extension ResponseFormat where Self == EnvelopeFormat {
    /// Every response is a ``ResponseEnvelope``, and the value is its `data`.
    public static var envelope: Self { EnvelopeFormat() }
}
