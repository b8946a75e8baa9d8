// swift-format-ignore-file: NeverForceUnwrap, OrderedImports

import DataAPI
import Foundation
import NetworkAsyncHTTPClient
import NetworkCore
import Storage
import TokenRefresh

let server = "http://127.0.0.1:8080/api/v1"
let api = NetworkClient(baseURL: URL(string: server)!, transport: AsyncHTTPClientTransport(), format: .envelope)
let store = FileTokenStore(application: "articles", account: server)
let session = TokenRefreshCoordinator(store: store, handler: RESTTokenRefreshHandler(network: api))  // or yours
let network = api.authenticated(by: session)  // sends tokens to the origin of that URL, and to no other
for try await article in ArticleService(network: network).all() { print(article.title) }

import AuthInterface

func data<Value>(
    with session: some TokenProvider, _ send: (_ token: String) async throws -> (Value, status: Int)
) async throws -> Value {
    let token = try await session.token()  // refreshes first if the token has expired
    let (value, status) = try await send(token.value)
    guard status == 401 else { return value }
    let fresh = try await session.replacement(for: token)  // one refresh, however many requests are refused
    return try await send(fresh.value).0
}
