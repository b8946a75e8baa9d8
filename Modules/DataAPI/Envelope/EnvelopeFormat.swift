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
    ///   - acceptsPlainValues: Whether an object without a value in `data` may be the value itself.
    public init(
        coding: JSONCoding? = nil, mediaTypes: [String] = ["application/json"], acceptsPlainValues: Bool = false
    ) {
        ownCoding = coding
        self.mediaTypes = mediaTypes
        self.acceptsPlainValues = acceptsPlainValues
    }

    /// Reads `data` of the envelope. An optional type accepts an envelope without it, and no body.
    ///
    /// - Throws: `DecodingError`; `ServerError` when `success` is `false`, and for an error in the place of the value.
    public func value<Value: Decodable>(_ type: Value.Type, from response: HTTPResponse) throws -> Value {
        if let absent = response.absentValue(type) { return absent }
        let decoder = coding.makeDecoder()
        if acceptsPlainValues { return try decoder.decode(PlainOrEnvelope<Value>.self, from: response.body).value }
        do {
            let envelope = try decoder.decode(SuccessfulEnvelope<Value>.self, from: response.body)
            if envelope.isEmpty, let error = ServerError(inSuccess: response) { throw error }
            return envelope.data
        } catch let failure as DecodingError {
            throw ServerError(inSuccess: response) ?? failure
        }
    }

    /// Checks `success`, or that there is no error. A body that is empty or no envelope is accepted.
    ///
    /// - Throws: `ServerError` when `success` is `false`, or without it for an error in the body.
    public func check(_ response: HTTPResponse) throws {
        guard !response.body.isEmpty else { return }
        do {
            try coding.makeDecoder().decode(SuccessFlag.self, from: response.body).check()
        } catch is DecodingError {
            if let error = ServerError(inSuccess: response) { throw error }
        }
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

    /// Whether there is no data, or it is `null`.
    let isEmpty: Bool

    init(from decoder: any Decoder) throws {
        if let flag = try? SuccessFlag(from: decoder) { try flag.check() }
        let object = try decoder.container(keyedBy: Key.self)
        // GraphQL: the errors stand in place of the value.
        isEmpty = try !object.contains(.data) || object.decodeNil(forKey: .data)
        if isEmpty, let error = try? ServerError(from: decoder), !error.errors.isEmpty { throw error }
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
        guard let object, object.contains(.data) || object.contains(.success) else {
            value = try Value(from: decoder)
            return
        }
        do {
            value = try SuccessfulEnvelope<Value>(from: decoder).data
        } catch let error as DecodingError {
            // The flag or other data beside the members of the value.
            guard let plain = try? Value(from: decoder) else { throw error }
            value = plain
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
