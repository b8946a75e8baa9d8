// swift-format-ignore-file: NeverForceUnwrap, OrderedImports

import AuthInterface
import DataAPI
import Foundation
import NetworkCore
import NetworkURLSession
import Storage
import TokenRefresh

let server = URL(string: "https://api.example.com/v1")!
let api = NetworkClient(baseURL: server, transport: URLSessionTransport())
let store = MemoryTokenStore()  // in an application: KeychainTokenStore
let session = TokenRefreshCoordinator(store: store, handler: RESTTokenRefreshHandler(network: api))  // or your own call
let network = api.authenticated(by: session)  // tokens go to api.example.com, and to no other host

let tokens = TokenRefreshResult(accessToken: "first", refreshToken: "once", expiresIn: .seconds(900))
try await session.signIn(tokens)  // what your login has returned
let notes = try await network.send(Endpoint<[String]>.get("notes"))  // refreshes first when the token has expired

func data<Value>(
    with session: some TokenProvider, _ send: (_ token: String) async throws -> (Value, status: Int)
) async throws -> Value {
    let token = try await session.token()  // refreshes first if the token has expired
    let (value, status) = try await send(token.value)
    guard status == 401 else { return value }
    let fresh = try await session.replacement(for: token)  // one refresh, however many requests are refused
    return try await send(fresh.value).0
}
