public import Foundation

/// How an API wraps what it answers: where in a body the value is, and where the error.
///
/// ``EnvelopeFormat`` and ``PlainJSONFormat`` are two; an API with another wrapping is a third.
public protocol ResponseFormat: Sendable {
    /// Reads the value of an accepted answer.
    ///
    /// - Parameters:
    ///   - type: The value's type.
    ///   - response: The answer. Its status was accepted.
    ///   - decoder: The decoder of the configuration.
    /// - Returns: The value.
    /// - Throws: `DecodingError` when the body is not what was expected; ``ErrorEnvelope`` when the body itself says
    ///   that the call failed, whatever the status.
    func value<Value: Decodable>(
        _ type: Value.Type,
        from response: HTTPResponse,
        using decoder: JSONDecoder
    ) throws -> Value

    /// Checks an accepted answer of which no value is wanted (row N8).
    ///
    /// - Parameters:
    ///   - response: The answer. Its status was accepted and its body may be empty.
    ///   - decoder: The decoder of the configuration.
    /// - Throws: ``ErrorEnvelope`` when the body itself says that the call failed.
    func check(_ response: HTTPResponse, using decoder: JSONDecoder) throws

    /// Reads what a refused answer says about the error.
    ///
    /// - Parameters:
    ///   - response: The answer. Its status was not accepted, and its body may be anything: a proxy's HTML too.
    ///   - decoder: The decoder of the configuration.
    /// - Returns: What it says, or `nil` where it cannot be read.
    func failure(from response: HTTPResponse, using decoder: JSONDecoder) -> ErrorEnvelope?
}

/// Every answer is a ``ResponseEnvelope``, and the value is its `data` (row N7).
public struct EnvelopeFormat: ResponseFormat {
    /// Creates the format.
    public init() {}

    /// Reads `data` of the envelope.
    ///
    /// - Parameters:
    ///   - type: The value's type. An optional type accepts an envelope without `data`.
    ///   - response: The answer.
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

    /// Looks for `"success": false`. A body that is empty or no envelope passes: nothing was wanted of it.
    ///
    /// - Parameters:
    ///   - response: The answer.
    ///   - decoder: The decoder of the configuration.
    /// - Throws: ``ErrorEnvelope`` when `success` is `false`.
    public func check(_ response: HTTPResponse, using decoder: JSONDecoder) throws {
        guard let verdict = try? decoder.decode(Verdict.self, from: response.body), !verdict.success else { return }
        throw failure(from: response, using: decoder) ?? ErrorEnvelope()
    }

    /// Reads the envelope of an error.
    ///
    /// - Parameters:
    ///   - response: The answer.
    ///   - decoder: The decoder of the configuration.
    /// - Returns: What it says, or `nil` where it is no envelope.
    public func failure(from response: HTTPResponse, using decoder: JSONDecoder) -> ErrorEnvelope? {
        try? decoder.decode(ErrorEnvelope.self, from: response.body)
    }

    private struct Verdict: Decodable {
        let success: Bool
    }

    private struct RequiredData<Value: Decodable>: Decodable {
        let data: Value
    }
}

/// Every answer is the value itself, as JSON.
public struct PlainJSONFormat: ResponseFormat {
    /// Creates the format.
    public init() {}

    /// Reads the body as the value.
    ///
    /// - Parameters:
    ///   - type: The value's type.
    ///   - response: The answer.
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

    /// Accepts any body: nothing was wanted of it.
    ///
    /// - Parameters:
    ///   - response: The answer.
    ///   - decoder: The decoder of the configuration.
    public func check(_ response: HTTPResponse, using decoder: JSONDecoder) {}

    /// Reads the error objects in common use: an envelope's, OAuth2's (RFC 6749 §5.2), problem details (RFC 9457).
    ///
    /// - Parameters:
    ///   - response: The answer.
    ///   - decoder: The decoder of the configuration.
    /// - Returns: What it says, or `nil` where it is none of them.
    public func failure(from response: HTTPResponse, using decoder: JSONDecoder) -> ErrorEnvelope? {
        try? decoder.decode(ErrorEnvelope.self, from: response.body)
    }
}

extension ResponseFormat where Self == EnvelopeFormat {
    /// Every answer is a ``ResponseEnvelope``, and the value is its `data`.
    public static var envelope: Self { EnvelopeFormat() }
}

extension ResponseFormat where Self == PlainJSONFormat {
    /// Every answer is the value itself, as JSON.
    public static var json: Self { PlainJSONFormat() }
}
