import Foundation

/// Every response is the value itself, as JSON.
public struct PlainJSONFormat: ResponseFormat {
    /// The media types that the format reads.
    public let mediaTypes: [String]

    private let coding: JSONCoding

    /// Creates the format.
    ///
    /// - Parameters:
    ///   - coding: The decoders.
    ///   - mediaTypes: The media types that the format reads.
    public init(coding: JSONCoding = .standard, mediaTypes: [String] = ["application/json"]) {
        self.coding = coding
        self.mediaTypes = mediaTypes
    }

    /// Decodes the body.
    ///
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - response: The response.
    /// - Returns: The value.
    /// - Throws: `DecodingError`.
    public func value<Value: Decodable>(
        _ type: Value.Type,
        from response: HTTPResponse
    ) throws -> Value {
        try coding.makeDecoder().decode(type, from: response.body)
    }

    /// Accepts every body.
    ///
    /// - Parameter response: The response.
    public func check(_ response: HTTPResponse) {}

    /// Reads an error in a common form: an envelope, OAuth 2 (RFC 6749 §5.2), problem details (RFC 9457).
    ///
    /// - Parameter response: The response.
    /// - Returns: The error. `nil`: the body has none of these forms.
    public func failure(from response: HTTPResponse) -> ErrorEnvelope? {
        try? coding.makeDecoder().decode(ErrorEnvelope.self, from: response.body)
    }
}

extension ResponseFormat where Self == PlainJSONFormat {
    /// Every response is the value itself, as JSON.
    public static var json: Self { PlainJSONFormat() }

    /// Every response is the value itself, as JSON.
    ///
    /// - Parameter coding: The decoders.
    /// - Returns: The format.
    public static func json(_ coding: JSONCoding) -> Self { PlainJSONFormat(coding: coding) }
}
