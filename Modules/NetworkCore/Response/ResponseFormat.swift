/// How the responses of an API contain their value or their error, with what decodes them.
///
/// ``EnvelopeFormat`` and ``PlainJSONFormat`` conform. Write a type of your own for an API with other responses.
public protocol ResponseFormat: Sendable {
    /// The media types that the format reads, in order of preference, for the `Accept` field: `["application/json"]`.
    ///
    /// A page (HTML) is refused unless it is named here, or in a field `Accept` of the endpoint.
    var mediaTypes: [String] { get }

    /// Reads the value of a response whose status was accepted.
    ///
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - response: The response.
    /// - Returns: The value.
    /// - Throws: `DecodingError` when the body is not of the expected form; ``ErrorEnvelope`` when the body says that
    ///   the call failed.
    func value<Value: Decodable>(
        _ type: Value.Type,
        from response: HTTPResponse
    ) throws -> Value

    /// Checks a response whose status was accepted and from which no value is read.
    ///
    /// - Parameter response: The response. Its body may be empty.
    /// - Throws: ``ErrorEnvelope`` when the body says that the call failed.
    func check(_ response: HTTPResponse) throws

    /// Reads the error of a response whose status was not accepted.
    ///
    /// - Parameter response: The response. Its body may be anything, such as the HTML of a proxy.
    /// - Returns: The error. `nil`: it cannot be read.
    func failure(from response: HTTPResponse) -> ErrorEnvelope?
}
