import Foundation

/// How the response to an endpoint becomes its `Response`.
struct ResponseReading<Response: Sendable>: Sendable {
    /// The value of the `Accept` field.
    let accept: String

    let read: @Sendable (HTTPResponse, any ResponseFormat, JSONDecoder) throws -> Response
}

extension ResponseReading where Response: Decodable {
    /// Decodes the body. `Data` is the body itself, in generic code too.
    static var decoded: Self {
        if let bytes = ResponseReading<Data>.bytes as? Self { return bytes }
        return Self(accept: "application/json") { response, format, decoder in
            try format.value(Response.self, from: response, using: decoder)
        }
    }
}

extension ResponseReading where Response == Void {
    static var discarded: Self {
        Self(accept: "application/json") { response, format, decoder in
            try format.check(response, using: decoder)
        }
    }
}

extension ResponseReading where Response == Data {
    static var bytes: Self { Self(accept: "*/*") { response, _, _ in response.body } }
}

extension ResponseReading where Response == HTTPResponse {
    static var whole: Self { Self(accept: "*/*") { response, _, _ in response } }
}
