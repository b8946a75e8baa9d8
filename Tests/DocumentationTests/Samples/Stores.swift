import AuthInterface
import Foundation
import PostgreSQLStorage
import Storage
import TokenRefresh

#if canImport(UIKit)
import UIKit
#endif

// The samples of the articles on stores.

#if PostgreSQL
// In place of the one of the article, which is over swift-crypto.
private struct SealedTokens: TokenCipher {
    let key: Int

    func seal(_ plaintext: Data, authenticating associatedData: Data) -> Data { plaintext }
    func open(_ sealed: Data, authenticating associatedData: Data) -> Data { sealed }
}
#endif

private struct Stores {
    let handler: any TokenRefreshHandler

    func show(_ shown: Any?) {}

    func file() {
        let store = FileTokenStore(folder: URL(fileURLWithPath: "/data/tokens"), access: .group)
        show(store)
    }

    func overview() async throws {
        let store = FileTokenStore(application: "notes", account: "ada")
        let session = TokenRefreshCoordinator(store: store, handler: handler)
        guard case .signedIn = try await session.restore() else { return }
    }

    #if PostgreSQL
    func fleet(key: Int) async throws {
        let store = PostgreSQLTokenStore(
            connection: "host=db1,db2 dbname=tokens user=fleet sslmode=verify-full target_session_attrs=read-write",
            account: "partner",
            cipher: SealedTokens(key: key)
        )
        try await store.prepare()
        let session = TokenRefreshCoordinator(store: store, handler: handler)
        show(session)
    }

    func fleetOverview(cipher: any TokenCipher) async throws {
        let store = PostgreSQLTokenStore(
            connection: "host=db dbname=tokens sslmode=verify-full", account: "ada", cipher: cipher)
        try await store.prepare()
        let other = store.store(for: "grace")  // over the same connections
        show(other)
    }
    #endif

    #if canImport(UIKit) && !os(watchOS)
    func application() {
        let store = KeychainTokenStore(at: KeychainLocation(service: "org.example.articles")) {
            await UIApplication.shared.isProtectedDataAvailable
        }
        show(store)
    }
    #endif

    #if canImport(Security)
    func extensions(container: URL) {
        let location = KeychainLocation(service: "org.example.articles", accessGroup: "ABCDE12345.org.example.shared")
        let probe = ProtectedDataProbe(file: container.appendingPathComponent("unlocked"))
        let store = KeychainTokenStore(at: location) { await probe.isProtectedDataAvailable() }
        show(store)
    }

    func shared(container: URL, probe: ProtectedDataProbe) {
        let location = KeychainLocation(service: "org.example.articles", accessGroup: "ABCDE12345.org.example.shared")
        let store = KeychainTokenStore(at: location, isProtectedDataAvailable: probe.isProtectedDataAvailable)
            .shared(lockFile: container.appendingPathComponent("default.lease"))
        show(store)
    }
    #endif

    func moved() {
        let predecessors: [KeychainPredecessor] = [
            .bundle(at: KeychainLocation(service: "articles")),
            .separateTokens(
                access: KeychainLocation(service: "articles", account: "accessToken"),
                refresh: KeychainLocation(service: "articles", account: "refreshToken")
            ),
        ]
        show(predecessors)
    }

    #if canImport(Darwin)
    func installed() {
        let installMarker = InstallMarker.file(
            at: .applicationSupportDirectory.appendingPathComponent("org.example.articles/installed"))
        show(installMarker)
    }
    #endif
}
