public import Foundation

/// How the responses of an API contain their value or their error.
///
/// ``EnvelopeFormat`` and ``PlainJSONFormat`` conform. Write a type of your own for an API with other responses.
public protocol ResponseFormat: Sendable {
    /// Reads the value of a response whose status was accepted.
    ///
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - response: The response.
    ///   - decoder: The decoder of the configuration.
    /// - Returns: The value.
    /// - Throws: `DecodingError` when the body is not of the expected form; ``ErrorEnvelope`` when the body says that the
    ///   call failed.
    func value<Value: Decodable>(
        _ type: Value.Type,
        from response: HTTPResponse,
        using decoder: JSONDecoder
    ) throws -> Value

    /// Checks a response whose status was accepted and from which no value is read.
    ///
    /// - Parameters:
    ///   - response: The response. Its body may be empty.
    ///   - decoder: The decoder of the configuration.
    /// - Throws: ``ErrorEnvelope`` when the body says that the call failed.
    func check(_ response: HTTPResponse, using decoder: JSONDecoder) throws

    /// Reads the error of a response whose status was not accepted.
    ///
    /// - Parameters:
    ///   - response: The response. Its body may be anything, such as the HTML of a proxy.
    ///   - decoder: The decoder of the configuration.
    /// - Returns: The error. `nil`: it cannot be read.
    func failure(from response: HTTPResponse, using decoder: JSONDecoder) -> ErrorEnvelope?
}
