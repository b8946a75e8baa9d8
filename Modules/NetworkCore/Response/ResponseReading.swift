import Foundation

/// How the answer to one endpoint becomes its `Response`.
struct ResponseReading<Response: Sendable>: Sendable {
    /// What to ask for in the `Accept` field.
    let accept: String

    let read: @Sendable (HTTPResponse, any ResponseFormat, JSONDecoder) throws -> Response
}

extension ResponseReading where Response: Decodable {
    static var decoded: Self {
        Self(accept: "application/json") { response, format, decoder in
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
