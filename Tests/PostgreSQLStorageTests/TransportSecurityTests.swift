#if PostgreSQL
import AuthInterface
import ConcurrencyPrimitives
import ContractTesting
import Foundation
import Storage
import TestSupport
import Testing

@testable import PostgreSQLStorage

@Suite("G16: tokens reach the database over TLS, or do not leave the host") struct TransportSecurityTests {
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
    func `a mode that lets servers decide is made stricter`(options: [String: String], rule: TransportSecurity.Rule) {
        #expect(security.rule(for: options, environment: [:]) == rule)
    }

    @Test func `the environment supplies what the connection string omits`() {
        #expect(security.rule(for: [:], environment: ["PGHOST": "db1"]) == .requireTLS)
        #expect(security.rule(for: [:], environment: ["PGHOST": "db1", "PGSSLMODE": "verify-ca"]) == .asGiven)
        #expect(security.rule(for: ["host": "/tmp"], environment: ["PGHOST": "db1"]) == .asGiven)
    }

    @Test(arguments: [
        ("127.0.0.1", true), ("192.0.2.1", false), ("::1", true), ("::", false), ("::ffff:127.0.0.1", true),
        ("::ffff:192.0.2.1", false), ("no address", false),
    ])
    func `an open connection is checked by its peer`(peer: String, isLocal: Bool) {
        func refusal(host: String = "db1", isEncrypted: Bool = false) -> String? {
            security.checkOpen(isEncrypted: isEncrypted, host: host, peer: address(peer))
        }
        #expect((refusal() == nil) == isLocal)
        #expect(refusal(host: "db.internal") == nil && refusal(isEncrypted: true) == nil)
    }

    @Test func `a store refuses an unencrypted connection`() async {
        let store = ConnectionTo("host=192.0.2.1 sslmode=disable").store()
        await expectFailure(.insecure, "sslmode=verify-full") { _ = try await store.load() }
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

    private func address(_ text: String) -> Data {
        var (hints, found) = (addrinfo(), UnsafeMutablePointer<addrinfo>?.none)
        hints.ai_flags = AI_NUMERICHOST
        guard getaddrinfo(text, nil, &hints, &found) == 0, let found else { return Data() }
        defer { freeaddrinfo(found) }
        return Data(bytes: found.pointee.ai_addr, count: Int(found.pointee.ai_addrlen))
    }
}
#endif
