import Foundation

/// How the response to an endpoint becomes its `Response`.
struct ResponseReading<Response: Sendable>: Sendable {
    /// The value of the `Accept` field.
    let accept: @Sendable (any ResponseFormat) -> String

    /// Reads a response by a format; the last argument is the endpoint's own `Accept` field.
    let read: @Sendable (HTTPResponse, any ResponseFormat, String?) throws -> Response

    /// The same reading, with the value and the head of the response changed into another value.
    func map<New: Sendable>(
        _ transform: @escaping @Sendable (Response, HTTPResponseHead) throws -> New
    ) -> ResponseReading<New> {
        ResponseReading<New>(accept: accept) { response, format, requested in
            try transform(try read(response, format, requested), response.head)
        }
    }
}

extension ResponseReading where Response: Decodable {
    /// A value that can be decoded is taken under any media type: new tokens must not be lost to a label.
    /// `Data` is the body itself, in generic code too.
    static var decoded: Self {
        if Response.self == Data.self, let bytes = ResponseReading<Data>.bytes as? Self { return bytes }
        return Self(accept: { $0.mediaTypes.joined(separator: ", ") }) { response, format, requested in
            do {
                return try format.value(Response.self, from: response)
            } catch let error as DecodingError {
                try response.refusePage(unless: format.mediaTypes, requested)
                throw error
            }
        }
    }
}

extension ResponseReading where Response == Void {
    static var discarded: Self {
        Self(accept: { $0.mediaTypes.joined(separator: ", ") }) { response, format, requested in
            try response.refusePage(unless: format.mediaTypes, requested)
            try format.check(response)
        }
    }
}

extension ResponseReading where Response == Data {
    static var bytes: Self {
        Self(accept: { _ in "*/*" }) { response, _, requested in
            try response.refusePage(unless: [], requested)
            return response.body
        }
    }
}

extension ResponseReading where Response == HTTPResponse {
    /// The caller sees the media type and decides.
    static var whole: Self { Self(accept: { _ in "*/*" }) { response, _, _ in response } }
}

extension HTTPResponse {
    /// The `nil` of an optional type, where the response has no body: 204, 205, an empty 200. `nil`: there is none.
    package func absentValue<Value>(_ type: Value.Type) -> Value? {
        body.isEmpty ? (type as? any ExpressibleByNilLiteral.Type)?.absent as? Value : nil
    }
}

extension ExpressibleByNilLiteral {
    package static var absent: Self { nil }
}
