#if PostgreSQL
import AuthInterface
import ConcurrencyPrimitives
import ContractTesting
import Foundation
import Storage
import TestSupport
import Testing

@testable import PostgreSQLStorage

@Suite("G16: tokens reach the database over TLS, or do not leave the host")
struct TransportSecurityTests {
    private let security = TransportSecurity(cleartextHosts: ["db.internal"])

    @Test(
        arguments: [
            ([:], .asGiven), (["host": "/var/run/postgresql"], .asGiven), (["host": "localhost"], .asGiven),
            (["host": "127.0.0.1", "sslmode": "disable"], .asGiven), (["host": "::1"], .asGiven),
            (["host": "db.internal", "sslmode": "disable"], .asGiven), (["host": "DB.internal"], .asGiven),
            (["host": "db1"], .requireTLS), (["host": "db1", "sslmode": "prefer"], .requireTLS),
            (["host": "db1", "sslmode": "allow"], .requireTLS), (["host": "localhost,db1"], .requireTLS),
            (["host": "localhost", "hostaddr": "192.0.2.1"], .requireTLS),
            (["host": "127.0.0.1.example.com"], .requireTLS), (["host": "localhost.example.com"], .requireTLS),
            (["host": "db1", "sslmode": "require"], .asGiven), (["host": "db1", "sslmode": "verify-full"], .asGiven),
            (["service": "tokens"], .asGiven), (["host": "db1", "service": "tokens"], .asGiven),
        ] as [([String: String], TransportSecurity.Rule)])
    func `a mode that leaves the decision to the server is made stricter`(
        options: [String: String], rule: TransportSecurity.Rule
    ) {
        #expect(security.rule(for: options, environment: [:]) == rule)
    }

    @Test func `the environment supplies what the connection string omits`() {
        #expect(security.rule(for: [:], environment: ["PGHOST": "db1"]) == .requireTLS)
        #expect(security.rule(for: [:], environment: ["PGHOST": "db1", "PGSSLMODE": "verify-ca"]) == .asGiven)
        #expect(security.rule(for: ["host": "/tmp"], environment: ["PGHOST": "db1"]) == .asGiven)
    }

    @Test func `an open connection is checked by its peer`() {
        func check(_ family: Int32, _ bytes: [UInt8], host: String = "db1", isEncrypted: Bool = false) -> String? {
            security.checkOpen(isEncrypted: isEncrypted, host: host, peer: address(family, bytes))
        }
        #expect(check(AF_INET, [127, 0, 0, 1]) == nil)
        #expect(check(AF_INET, [192, 0, 2, 1]) != nil)
        #expect(check(AF_INET, [192, 0, 2, 1], host: "db.internal") == nil)
        #expect(check(AF_INET, [192, 0, 2, 1], isEncrypted: true) == nil)
        #expect(check(AF_INET6, [UInt8](repeating: 0, count: 15) + [1]) == nil)
        #expect(check(AF_INET6, [UInt8](repeating: 0, count: 16)) != nil)
        #expect(check(AF_INET6, [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF, 127, 0, 0, 1]) == nil)
        #expect(check(AF_INET6, [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF, 192, 0, 2, 1]) != nil)
        #expect(security.checkOpen(isEncrypted: false, host: "db1", peer: Data()) != nil)
    }

    @Test func `a store refuses an unencrypted connection, and shows no password`() async {
        let store = PostgreSQLTokenStore(
            connection: "host=192.0.2.1 sslmode=disable password=correct-horse-fixture",
            cipher: UnencryptedTokenCipher()
        )
        let error = await storeFailure { _ = try await store.load() }
        #expect(error?.code == .insecure)
        #expect(error?.reason.contains("sslmode=verify-full") == true)
        #expect(error?.reason.contains("correct-horse") == false)
    }

    /// The address 0.0.0.0 leads to this machine too, and counts as another host: it is no loopback address.
    @Test func `a server without TLS receives the request for TLS only`() async throws {
        let received = Locked<[Data?]>([])
        let server = try LoopbackPeer { connection in
            let messages = [connection.readBytes(8), connection.send("N") ? connection.readBytes(1) : nil]
            received.withLock { $0 += messages }
        }
        defer { server.stop() }
        let place = "host=0.0.0.0 port=\(server.url.port ?? 0) user=fleet password=correct-horse-fixture"
        for mode in ["", "sslmode=prefer", "sslmode=allow"] {
            let store = PostgreSQLTokenStore(connection: "\(place) \(mode)", cipher: UnencryptedTokenCipher())
            await expectFailure(.unavailable, "TLS") { try await store.save(.fleet(1)) }
        }
        try await until { received.withLock { $0.count } >= 6 }
        // The length of the message, 8, and the code of SSLRequest, 80877103. Nothing follows it.
        let expected: [Data?] = [Data([0, 0, 0, 8, 4, 210, 22, 47]), nil]
        #expect(received.withLock { $0 } == expected + expected + expected)
    }

    private func address(_ family: Int32, _ bytes: [UInt8]) -> Data {
        if family == AF_INET {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            withUnsafeMutableBytes(of: &address.sin_addr) { $0.copyBytes(from: bytes) }
            return withUnsafeBytes(of: address) { Data($0) }
        }
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        withUnsafeMutableBytes(of: &address.sin6_addr) { $0.copyBytes(from: bytes) }
        return withUnsafeBytes(of: address) { Data($0) }
    }
}
#endif
