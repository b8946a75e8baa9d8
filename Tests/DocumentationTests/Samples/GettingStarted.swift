// swift-format-ignore-file: NeverForceUnwrap

import AuthInterface
import DataAPI
import Foundation
import NetworkAsyncHTTPClient
import NetworkCore
import NetworkURLSession
import Storage
import TokenRefresh

// The samples of the article *Getting started*.

nonisolated struct Note: Codable, Identifiable {
    let id: Int
    let text: String
}

extension Endpoint where Response == [Note] {
    static var notes: Self { .get("notes", query: ["limit": 20]) }
}

extension Endpoint where Response == Note {
    static func add(_ text: String) -> Self { .post("notes", json: ["text": text]).idempotent() }
}

extension Endpoint where Response == IssuedTokens {
    static func login(_ name: String, password: String) -> Self {
        .post("login", json: ["name": name, "password": password]).asTokenCall()
    }
}

struct Services {
    let session: TokenRefreshCoordinator
    let network: any NetworkService
    let api: NetworkClient

    init(url: URL, transport: any HTTPTransport, store: any TokenStore) {
        api = NetworkClient(baseURL: url, transport: transport, interceptors: [RetryPolicy.standard])
        session = TokenRefreshCoordinator(store: store, handler: RESTTokenRefreshHandler(network: api))
        network = api.authenticated(by: session)
    }

    func signIn(_ name: String, password: String) async throws {
        let tokens = try await api.send(.login(name, password: password))
        try await session.signIn(tokens.result)
    }
}

#if canImport(UIKit) && !os(watchOS)
import UIKit

private func storeOfAnApplication() -> (any HTTPTransport, any TokenStore) {
    let transport = URLSessionTransport()
    let store = KeychainTokenStore(at: KeychainLocation(service: "org.example.notes")) {
        await UIApplication.shared.isProtectedDataAvailable  // before the first unlock nothing can be read
    }
    return (transport, store)
}
#endif

#if AsyncHTTPClient
private func storeOfAServer() -> (any HTTPTransport, any TokenStore) {
    let transport = AsyncHTTPClientTransport()
    let store = FileTokenStore(application: "notes")
    return (transport, store)
}
#endif

private func start(_ transport: any HTTPTransport, _ store: any TokenStore) async throws {
    let services = Services(url: URL(string: "https://api.example.com/v1")!, transport: transport, store: store)
    if case .signedOut = try await services.session.restore() {
        try await services.signIn("ada", password: "of the user")
    }
    let notes = try await services.network.send(.notes)
    print(notes.map(\.text))
}

private func follow(_ services: Services) async {
    for await state in services.session.states {
        switch state {
        case .unknown: print("the store has not been read yet: show the splash screen")
        case .signedIn: print("show the notes")
        case .signedOut(.expired(let ending)): print("show the login, and say why: \(ending)")
        case .signedOut: print("show the login")
        }
    }
}
