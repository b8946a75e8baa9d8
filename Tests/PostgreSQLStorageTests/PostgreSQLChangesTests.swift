#if PostgreSQL
import AuthInterface
import ConcurrencyPrimitives
import Foundation
import TestSupport
import Testing

@testable import PostgreSQLStorage

@Suite("A change by another process is reported", .needsPostgreSQL, .timeLimit(.minutes(10)))
struct PostgreSQLChangesTests {
    private let server: PostgreSQLServer

    init() async throws { server = try await .shared }

    @Test func `names that are equal as texts and differ in bytes are two accounts`() {
        let names = ["caf\u{e9}", "cafe\u{301}"]
        var unread = UnreadAccounts()
        let begun = names.map { unread.add($0) }
        #expect(begun == [true, false])
        let both = unread.next(1) + unread.next(500)
        #expect(Set(both.map { Data($0.utf8) }) == Set(names.map { Data($0.utf8) }))
        let isBegunTwice = unread.add(names[0])
        let (one, none) = (unread.next(500), unread.next(500))
        #expect(!isBegunTwice && one.count == 1 && none == [])
        let isBegunAgain = unread.add(names[0])
        #expect(isBegunAgain)

        let subscribers = ChangeSubscribers()
        let streams = names.map { subscribers.changes(of: $0, since: nil) }
        #expect(Set(subscribers.watchedAccounts.map { Data($0.utf8) }).count == streams.count)
    }

    @Test func `one connection listens for all accounts, each store is notified of its own row only`() async throws {
        let first = server.named()
        let stores = (0..<50).map { first.store(for: "\(first.account)/\($0)") }
        let streams = stores.map(\.changes)
        try await until { first.session.database.changes.isListening }
        let listeners = try await server.run(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1 AND query LIKE 'LISTEN%'",
            [.text(first.account)])
        #expect(listeners.integer(0) == 1)

        var iterator = streams[7].makeAsyncIterator()
        _ = await iterator.next()  // when listening begins, changes may have been missed
        let reports = Locked(0)
        let silent = Task {
            for await _ in streams[8] { reports.withLock { $0 += 1 } }
        }
        for number in 1...3 {
            try await server.store(stores[7].account).save(.fleet(number))
            _ = await iterator.next()
        }
        #expect(reports.withLock { $0 } <= 1)
        silent.cancel()
        await silent.value
    }

    @Test func `changes from before the listening are looked for until they can be read`() async throws {
        let (name, table) = (UUID().uuidString, try #require(PostgreSQLTable("tokens-\(UUID().uuidString)")))
        let limits = PostgreSQLLimits.patient.with {
            ($0.changePolling, $0.rowLock) = (.milliseconds(50), PostgreSQLLimits().rowLock)
        }
        let store = ConnectionTo("\(server.connection) application_name=\(name)").store(table: table, limits: limits)
        try await store.prepare()
        try await store.save(.fleet(1))
        let feed = store.session.database.changes
        var reports = store.changes.makeAsyncIterator()
        try await until { feed.isListening }
        let listening = "SELECT pid::int8 FROM pg_stat_activity WHERE application_name = $1 AND query LIKE 'LISTEN%'"
        let listener = try #require(try await server.run(listening, [.text(name)]).integer(0))
        let lock = try await server.hold(
            "DO $$ BEGIN LOCK TABLE \(table.quoted); UPDATE \(table.quoted) SET version = version + 1; END $$")
        try await server.cutConnections(of: name)
        // It may listen again before anyone has seen that it did not.
        try await server.wait(until: "SELECT EXISTS (\(listening) AND pid <> \(listener))", [.text(name)])
        try await until { feed.isListening }
        let waits = "EXISTS (SELECT FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock')"
        try await server.wait(until: "SELECT \(waits)", [.text(name)])
        try await server.wait(until: "SELECT NOT \(waits)", [.text(name)])
        try await lock.commit()
        _ = await reports.next()
    }

    @Test func `a table named with its schema by one program and without it by another is one table`() async throws {
        let qualified = try #require(PostgreSQLTable("latchkey_tokens", schema: "public"))
        let follower = server.store(limits: .patient.with { $0.changePolling = .seconds(3_600) })
        var reports = follower.changes.makeAsyncIterator()
        try await until { follower.session.database.changes.isListening }
        _ = await reports.next()  // when listening begins, changes may have been missed
        try await server.store(follower.account, table: qualified).save(.fleet(1))
        _ = await reports.next()
        #expect(try await follower.load() == .fleet(1))
    }

    @Test func `the end of a listening connection is noticed with the last words of its server`() async throws {
        let name = UUID().uuidString
        let place = ConnectionString("\(server.connection) application_name=\(name)")
        let open = try PostgreSQLConnection.open(place, limits: .patient)
        try open.execute(script: "LISTEN \"latchkey_test\"")
        #expect(open.receiveNotifications() == [])
        try await server.run("SELECT pg_notify('latchkey_test', 'payload')")
        try await until { open.receiveNotifications() == ["payload"] }
        // Its message and the end of the connection have both arrived.
        try await server.cutConnections(of: name)
        #expect(open.receiveNotifications() == nil)
    }

    @Test(.needsPgBouncer) func `behind PgBouncer the store polls; with a direct connection it listens`() async throws {
        let server = try await PostgreSQLServer()
        let pooler = try await PgBouncer(before: server)
        let polling = pooler.store("account", limits: .patient.with { $0.changePolling = .milliseconds(50) })
        var reports = polling.changes.makeAsyncIterator()
        _ = await reports.next()  // the first look
        #expect(!polling.session.database.changes.isListening)

        var options = PostgreSQLOptions()
        options.directConnection = server.connection
        let limits = PostgreSQLLimits.patient.with { $0.changePolling = .seconds(3_600) }
        let listening = pooler.store("account", options: options, limits: limits)
        var direct = listening.changes.makeAsyncIterator()
        try await until { listening.session.database.changes.isListening }
        _ = await direct.next()
        try await server.store("account").save(.fleet(1))
        _ = await direct.next()
        await pooler.finish()
        await server.finish()
    }

    @Test func `a change between a read and the opening of a stream is reported while the feed listens`() async throws {
        let first = server.store()
        let kept = first.changes
        try await until { first.session.database.changes.isListening }
        for number in 1...20 {
            let store = first.store(for: "\(first.account)/\(number)")
            #expect(try await store.holding(.fleet(1)).load() == .fleet(1))
            // The feed has received the notification before the stream is opened.
            var other = first.store(for: store.account).changes.makeAsyncIterator()
            _ = await other.next()
            try await server.store(store.account).save(.fleet(2))
            _ = await other.next()
            var reports = store.changes.makeAsyncIterator()
            #expect(await reports.next() != nil)
        }
        _ = kept
    }

    @Test func `the streams end with the last store over their connections`() async throws {
        var store: PostgreSQLTokenStore? = server.store()
        let changes = try #require(store?.changes)
        store = nil
        for await _ in changes {}
    }
}
#endif
