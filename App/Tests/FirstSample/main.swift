// swift-format-ignore-file: NeverForceUnwrap

import DataAPI
import Foundation
import NetworkAsyncHTTPClient
import NetworkCore
import Storage
import TokenRefresh

let server = CommandLine.arguments[1]
let api = NetworkClient(baseURL: URL(string: server)!, transport: AsyncHTTPClientTransport(), format: .envelope)
let store = FileTokenStore(application: "articles", account: server)
let session = TokenRefreshCoordinator(store: store, handler: RESTTokenRefreshHandler(network: api))  // or yours
let network = api.authenticated(by: session)  // sends tokens to the origin of that URL, and to no other
for try await article in ArticleService(network: network).all() { print(article.title) }
