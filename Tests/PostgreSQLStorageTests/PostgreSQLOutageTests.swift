#if PostgreSQL
import AuthInterface
import ContractTesting
import ConcurrencyPrimitives
import Foundation
import Storage
import Testing

@testable import PostgreSQLStorage

@Suite("G14: a database that cannot be used is unavailable, never empty", .needsPostgreSQL, .timeLimit(.minutes(10)))
struct PostgreSQLOutageTests {
    private static let password = "correct-horse-fixture"

    @Test func `while the server is down every call is unavailable, and then the same store works`() async throws {
        let server = try await PostgreSQLServer()
        let clock = ManualTimeSource()
        let store = try await server.store("account", clock: clock).holding(.fleet(1))
        try await server.crash()
        await store.expectFailures(.unavailable, ofLease: true)
        try await server.start()
        clock.advance(by: .seconds(5))
        #expect(try await store.load() == .fleet(1))
        await server.finish()
    }

    @Test func `a release that a crashed server missed is made up for once it is back`() async throws {
        let server = try await PostgreSQLServer()
        let store = server.store("account")
        let lease = try await store.lease(waitingAtMost: .zero)
        try await server.crash()
        await lease.release()
        try await server.start()
        let next = try await server.store("account").lease(waitingAtMost: .seconds(7_200))
        #expect(!next.mayStillCall(.fleet(under: lease)))
        await next.release()
        await server.finish()
    }

    @Test func `the pauses between attempts to reach a server grow`() async throws {
        let clock = ManualTimeSource()
        let store = ConnectionTo("host=/nowhere user=latchkey").store(clock: clock)
        func attempt() async -> String? {
            await #expect(throws: TokenStoreError.self) { try await store.load() }?.reason
        }
        let (failed, paused) = ("no database server listens there", "the next attempt is in")
        for bound in [100, 200, 400] {
            #expect(await attempt()?.contains(failed) == true)
            clock.advance(by: .milliseconds(49))
            #expect(await attempt()?.contains(paused) == true, "50 ms of the pause are certain")
            clock.advance(by: .milliseconds(bound - 49))
        }
    }

    @Test func `a server process that hangs is abandoned, and another one used`() async throws {
        let server = try await PostgreSQLServer.shared
        let store = try await server.named(limits: .patient.with { $0.statement = .seconds(5) }).holding(.fleet(1))
        let process = try await server.run(
            "SELECT pid::bigint FROM pg_stat_activity WHERE application_name = $1", [.text(store.account)])
        let number = pid_t(try #require(process.integer(0)))
        kill(number, SIGSTOP)
        defer { kill(number, SIGCONT) }
        #expect(try await store.load() == .fleet(1))
    }

    @Test func `G25: on a server that stopped, an update and its new connection end at one deadline`() async throws {
        let server = try await PostgreSQLServer()
        let limits = PostgreSQLLimits.patient.with { ($0.call, $0.statement) = (.seconds(20), .seconds(5)) }
        let store = try await server.store("account", limits: limits).holding(.fleet(1))
        let backends = try await server.run(
            "SELECT pid::bigint FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )
        let clients = backends.rows.indices.compactMap { backends.integer(0, row: $0) }.map { pid_t($0) }
        let processes = clients + [try server.postmaster]
        for process in processes { kill(process, SIGSTOP) }
        let start = ContinuousClock.now
        let error = await #expect(throws: TokenStoreError.self) { try await store.save(.fleet(2)) }
        let elapsed = ContinuousClock.now - start
        for process in processes { kill(process, SIGCONT) }
        #expect(error?.code == .unavailable)
        #expect(elapsed < .seconds(600), "the time to connect alone is an hour")
        await server.finish()
    }

    @Test(arguments: [
        ("service=missing", "the service of the connection string is not defined"),
        ("host=/nowhere sslmode=sometimes", "the connection string is invalid (sslmode)"),
        (
            "postgres://ada:fixture@localhost:1/db?pgbouncer=true&connection_limit=1",
            "the connection string is invalid; remove what libpq does not know: pgbouncer, connection_limit"
        ),
    ])
    func `an unusable connection string has a sentence of its own`(connection: String, sentence: String) async throws {
        let store = PostgreSQLTokenStore(connection: connection, cipher: UnencryptedTokenCipher())
        await expectFailure(.unavailable, sentence) { _ = try await store.load() }
    }

    @Test func `a server that never responds delays only its own stores`() async throws {
        // It waits for the head of a request of HTTP.
        let server = try LoopbackServer { _ in .close }
        let place = ConnectionTo("host=127.0.0.1 port=\(server.url.port ?? 0) sslmode=disable user=latchkey")
        let responded = Locked(0)
        let loads = (0..<16).map { number in
            // The end of the server ends the wait.
            let store = place.store("\(number)")
            return Task {
                let error = await #expect(throws: TokenStoreError.self) { try await store.load() }
                responded.withLock { $0 += 1 }
                return error
            }
        }
        await Task.detached { for _ in 0..<100 { await Task.yield() } }.value
        #expect(responded.withLock { $0 } == 0, "the pool was blocked until the stores gave up")
        server.stop()
        for load in loads { #expect(await load.value?.code == .unavailable) }
    }

    @Test(arguments: [
        "postgresql://guarded:PASSWORD@%2Fnowhere/postgres", "postgresql://guarded:PASS%zzPASSWORD@host/postgres",
        "postgresql://guarded:x@PASSWORD@host/postgres", "host=/nowhere password=PASSWORD",
        "host=/nowhere password PASSWORD", "host=/nowhere 'PASSWORD", "password='PASSWORD", "PASSWORD",
        "host=/nowhere port=PASSWORD", "PASSWORD=x", "host=/nowhere options=PASSWORD sslmode=PASSWORD",
        "host=FOLDER user=guarded password=PASSWORD dbname=postgres", "host=FOLDER user=PASSWORD dbname=PASSWORD",
        "host=/nowhere password=PASSWORD\0", "host=192.0.2.1 sslmode=disable password=PASSWORD",
    ])
    func `no error and no description shows the password`(template: String) async throws {
        let server = try await PostgreSQLServer.shared
        let connection =
            template.replacingOccurrences(of: "PASSWORD", with: Self.password)
            .replacingOccurrences(of: "FOLDER", with: server.folder)
        let limits = PostgreSQLLimits().with { $0.connect = .seconds(2) }
        let store = PostgreSQLTokenStore(connection: connection, cipher: UnencryptedTokenCipher(), limits: limits)
        let errors = [
            await #expect(throws: TokenStoreError.self) { try await store.load() },
            await #expect(throws: TokenStoreError.self) { try await store.save(.fleet(1)) },
            await #expect(throws: TokenStoreError.self) { try await store.lease(waitingAtMost: .zero) },
            await #expect(throws: TokenStoreError.self) { try await store.prepare() },
        ]
        for error in errors { #expect([.unavailable, .insecure].contains(error?.code)) }
        var text = ""
        dump(errors, to: &text)
        dump(store, to: &text)
        text += errors.map { "\(String(describing: $0)) \(String(reflecting: $0)) \($0?.reason ?? "")" }.joined()
        text += "\(store) \(String(reflecting: store))"
        #expect(!text.contains(Self.password))
    }

    @Test func `a role logs in with its password, and an error names a wrong one`() async throws {
        let server = try await PostgreSQLServer.shared
        try await server.run("CREATE ROLE guarded LOGIN PASSWORD '\(Self.password)'")
        func reason(_ password: String) async -> String? {
            let store = ConnectionTo("host=\(server.folder) user=guarded dbname=postgres \(password)").store()
            return await #expect(throws: TokenStoreError.self) { try await store.load() }?.reason
        }
        #expect(await reason("password=wrong") == "the password was refused")
        #expect(await reason("") == "the server requires a password and none was given")
        #expect(await reason("password=\(Self.password)")?.contains("the role lacks a right") == true)
    }
}
#endif
