import HTTPTypes
import Hummingbird
import NIOCore

/// `GET /openapi.json`: the contract of all routes but `/dev`, in OpenAPI 3.1. It is kept by hand, and the tests
/// compare it with the routes, and with what the routes respond.
struct ContractRoutes: Sendable {
    var routes: [Route] {
        [
            Route(.get, "/openapi.json") { _, _ in
                Response(
                    status: .ok, headers: [.contentType: "application/json"],
                    body: ResponseBody(byteBuffer: ByteBuffer(bytes: Self.document)))
            }
        ]
    }

    /// The document: `Contract/openapi.json`.
    static let document = PackageResources.openapi_json
}
