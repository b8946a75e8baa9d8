import Foundation
public import NetworkCore

/// Every response is a ``ResponseEnvelope``, and the value is its `data`.
///
/// ```swift
/// let client = NetworkClient(baseURL: url, transport: transport, format: .envelope)
/// ```
public struct EnvelopeFormat: ResponseFormat {
    /// The media types that the format reads.
    public let mediaTypes: [String]

    private let ownCoding: JSONCoding?
    private let acceptsPlainValues: Bool

    private var coding: JSONCoding { ownCoding ?? .standard }

    /// Creates the format.
    ///
    /// - Parameters:
    ///   - coding: The decoders. `nil`: those of the client's `NetworkConfiguration.coding` where this is its format,
    ///     and else `JSONCoding.standard`.
    ///   - mediaTypes: The media types that the format reads.
    ///   - acceptsPlainValues: Whether an object that has neither `data` nor `success` is the value itself.
    public init(
        coding: JSONCoding? = nil, mediaTypes: [String] = ["application/json"], acceptsPlainValues: Bool = false
    ) {
        ownCoding = coding
        self.mediaTypes = mediaTypes
        self.acceptsPlainValues = acceptsPlainValues
    }

    /// Reads `data` of the envelope. An optional type accepts an envelope without it, and no body.
    ///
    /// - Throws: `DecodingError`, or `ServerError` when `success` is `false`.
    public func value<Value: Decodable>(_ type: Value.Type, from response: HTTPResponse) throws -> Value {
        if let absent = response.absentValue(type) { return absent }
        let decoder = coding.makeDecoder()
        return acceptsPlainValues
            ? try decoder.decode(PlainOrEnvelope<Value>.self, from: response.body).value
            : try decoder.decode(SuccessfulEnvelope<Value>.self, from: response.body).data
    }

    /// Checks `success`. A body that is empty or no envelope is accepted.
    ///
    /// - Throws: `ServerError` when `success` is `false`.
    public func check(_ response: HTTPResponse) throws {
        guard !response.body.isEmpty else { return }
        do {
            try coding.makeDecoder().decode(SuccessFlag.self, from: response.body).check()
        } catch is DecodingError {}
    }

    /// Reads the envelope of an error, or one of another common form; `nil` if the body has none.
    public func failure(from response: HTTPResponse) -> ServerError? { ServerError(in: response) }

    /// Decodes the body.
    ///
    /// - Throws: `DecodingError`.
    public func error<Failure: Decodable>(_ type: Failure.Type, from response: HTTPResponse) throws -> Failure {
        try coding.makeDecoder().decode(type, from: response.body)
    }
}

extension EnvelopeFormat: CodedFormat {
    package func coded(by coding: JSONCoding) -> any ResponseFormat {
        EnvelopeFormat(
            coding: ownCoding ?? coding, mediaTypes: mediaTypes, acceptsPlainValues: acceptsPlainValues)
    }
}

/// An envelope whose `success` is checked before its `data` is read, in one pass.
private struct SuccessfulEnvelope<Value: Decodable>: Decodable {
    private enum Key: String, CodingKey { case data }

    let data: Value

    init(from decoder: any Decoder) throws {
        if let flag = try? SuccessFlag(from: decoder) { try flag.check() }
        let object = try decoder.container(keyedBy: Key.self)
        // GraphQL: the errors stand in place of the value.
        let isAbsent = try !object.contains(.data) || object.decodeNil(forKey: .data)
        if isAbsent, let error = try? ServerError(from: decoder), !error.errors.isEmpty { throw error }
        if !object.contains(.data), let absent = (Value.self as? any ExpressibleByNilLiteral.Type)?.absent as? Value {
            data = absent
        } else {
            data = try object.decode(Value.self, forKey: .data)
        }
    }
}

private struct PlainOrEnvelope<Value: Decodable>: Decodable {
    private enum Key: String, CodingKey { case data, success }

    let value: Value

    init(from decoder: any Decoder) throws {
        let object = try? decoder.container(keyedBy: Key.self)
        if let object, object.contains(.data) || object.contains(.success) {
            value = try SuccessfulEnvelope<Value>(from: decoder).data
        } else {
            value = try Value(from: decoder)
        }
    }
}

/// What an envelope says about its success, and the error beside it.
private struct SuccessFlag: Decodable {
    private enum Key: String, CodingKey { case success }

    private let error: ServerError?

    /// Reads `success`: a Boolean, or what some servers send in its place.
    init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: Key.self)
        guard let isSuccess = try object.decode(JSONValue.self, forKey: .success).flag else {
            throw DecodingError.dataCorruptedError(forKey: .success, in: object, debugDescription: "no Boolean")
        }
        error = isSuccess ? nil : (try? ServerError(from: decoder)) ?? ServerError()
    }

    func check() throws { if let error { throw error } }
}

extension ResponseFormat where Self == EnvelopeFormat {
    /// Every response is a ``ResponseEnvelope``, and the value is its `data`.
    public static var envelope: Self { EnvelopeFormat() }

    /// Every response is a ``ResponseEnvelope``, and the value is its `data`.
    public static func envelope(_ coding: JSONCoding) -> Self { EnvelopeFormat(coding: coding) }
}
