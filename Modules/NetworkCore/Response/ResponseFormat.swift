import Foundation

/// How the responses of an API contain their value or their error, with what decodes them.
///
/// ``PlainJSONFormat`` conforms, and `EnvelopeFormat` in `DataAPI`. Write one of your own for another API.
public protocol ResponseFormat: Sendable {
    /// The media types that the format reads, in order of preference, for the `Accept` field: `["application/json"]`.
    ///
    /// A page (HTML) is refused unless it is named here, or in a field `Accept` of the endpoint.
    var mediaTypes: [String] { get }

    /// Reads the value of a response whose status was accepted.
    ///
    /// - Throws: `DecodingError` when the body is not of the expected form; ``ServerError`` when the body says that
    ///   the call failed.
    func value<Value: Decodable>(_ type: Value.Type, from response: HTTPResponse) throws -> Value

    /// Checks a response whose status was accepted and from which no value is read.
    ///
    /// - Throws: ``ServerError`` when the body says that the call failed.
    func check(_ response: HTTPResponse) throws

    /// Reads the error of a response whose status was not accepted.
    ///
    /// - Returns: The error. `nil`: it cannot be read.
    func failure(from response: HTTPResponse) -> ServerError?

    /// Reads the server's own type of error, for ``NetworkError/decode(_:)``. The default decodes JSON.
    ///
    /// - Throws: `DecodingError` when the body is not of the expected form.
    func error<Failure: Decodable>(_ type: Failure.Type, from response: HTTPResponse) throws -> Failure
}

extension ResponseFormat {
    /// Decodes the body as JSON.
    public func error<Failure: Decodable>(_ type: Failure.Type, from response: HTTPResponse) throws -> Failure {
        try JSONCoding.standard.makeDecoder().decode(type, from: response.body)
    }
}

/// Every response is the value itself, as JSON.
public struct PlainJSONFormat: ResponseFormat {
    /// The media types that the format reads.
    public let mediaTypes: [String]

    private let ownCoding: JSONCoding?

    private var coding: JSONCoding { ownCoding ?? .standard }

    /// Creates the format of some media types. Without decoders, it has those of the client's
    /// ``NetworkConfiguration/coding`` where this is its format, and else ``JSONCoding/standard``.
    public init(coding: JSONCoding? = nil, mediaTypes: [String] = ["application/json"]) {
        ownCoding = coding
        self.mediaTypes = mediaTypes
    }

    /// Decodes the body. An optional type is `nil` without one, and a `String` may be a body of `text/plain`.
    ///
    /// - Throws: `DecodingError`; ``ServerError`` for a body that is not of the expected form and has a member `error`
    ///   or `errors`, as some servers send one with status 200.
    public func value<Value: Decodable>(_ type: Value.Type, from response: HTTPResponse) throws -> Value {
        if let absent = response.absentValue(type) { return absent }
        do {
            return try coding.makeDecoder().decode(type, from: response.body)
        } catch let failure as DecodingError {
            if let error = ServerError(inSuccess: response) { throw error }
            guard let text = response.plainText, let value = text as? Value else { throw failure }
            return value
        }
    }

    /// Accepts every body.
    public func check(_ response: HTTPResponse) {}

    /// Decodes the body.
    public func error<Failure: Decodable>(_ type: Failure.Type, from response: HTTPResponse) throws -> Failure {
        try coding.makeDecoder().decode(type, from: response.body)
    }

    /// Reads an error in a common form, as ``ServerError`` lists them. `nil`: the body has none of these forms.
    public func failure(from response: HTTPResponse) -> ServerError? { ServerError(in: response) }
}

extension ResponseFormat where Self == PlainJSONFormat {
    /// Every response is the value itself, as JSON.
    public static var json: Self { PlainJSONFormat() }
}

/// A format that takes the coders of the client, so that they are written once.
package protocol CodedFormat: ResponseFormat {
    /// The format with these coders, unless it has its own.
    func coded(by coding: JSONCoding) -> any ResponseFormat
}

extension PlainJSONFormat: CodedFormat {
    package func coded(by coding: JSONCoding) -> any ResponseFormat {
        PlainJSONFormat(coding: ownCoding ?? coding, mediaTypes: mediaTypes)
    }
}
