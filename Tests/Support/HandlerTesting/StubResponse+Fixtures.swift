package import Foundation
import NetworkCore
package import NetworkTesting
package import Testing

extension StubResponse {
    /// The `Date` of the responses of ``text(_:status:type:)``.
    package static let date = Date(timeIntervalSince1970: 784_111_777)

    /// A response with a date, a media type and a body.
    package static func text(
        _ body: String,
        status: Int = 200,
        type: String = "application/json",
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> StubResponse {
        .status(
            status,
            headers: ["Content-Type": type, "Date": "Sun, 06 Nov 1994 08:49:37 GMT"],
            body: Data(body.utf8),
            sourceLocation: sourceLocation
        )
    }

    /// A response with a body, with or without a media type.
    package static func body(
        _ body: String,
        status: Int,
        type: String?,
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> StubResponse {
        var headers: HTTPHeaders = [:]
        headers["Content-Type"] = type
        return .status(status, headers: headers, body: Data(body.utf8), sourceLocation: sourceLocation)
    }

    /// A head, and an incomplete body.
    package static func cutOff(
        status: Int,
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> StubResponse {
        StubResponse(sourceLocation: sourceLocation) { request in
            let body = HTTPBody { throw HTTPTransportError(.connectionFailed, reason: "the body was cut off") }
            return HTTPTransportResponse(head: HTTPResponseHead(status: status, url: request.url), body: body)
        }
    }
}
