public import Foundation

/// Every response is the value itself, as JSON.
public struct PlainJSONFormat: ResponseFormat {
    /// Creates the format.
    public init() {}

    /// Decodes the body.
    ///
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - response: The response.
    ///   - decoder: The decoder of the configuration.
    /// - Returns: The value.
    /// - Throws: `DecodingError`.
    public func value<Value: Decodable>(
        _ type: Value.Type,
        from response: HTTPResponse,
        using decoder: JSONDecoder
    ) throws -> Value {
        try decoder.decode(type, from: response.body)
    }

    /// Accepts every body.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - decoder: The decoder of the configuration.
    public func check(_ response: HTTPResponse, using decoder: JSONDecoder) {}

    /// Reads an error in a common form: an envelope, OAuth 2 (RFC 6749 §5.2), problem details (RFC 9457).
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - decoder: The decoder of the configuration.
    /// - Returns: The error. `nil`: the body has none of these forms.
    public func failure(from response: HTTPResponse, using decoder: JSONDecoder) -> ErrorEnvelope? {
        try? decoder.decode(ErrorEnvelope.self, from: response.body)
    }
}

extension ResponseFormat where Self == PlainJSONFormat {
    /// Every response is the value itself, as JSON.
    public static var json: Self { PlainJSONFormat() }
}
