#if PostgreSQL
import AuthInterface
import Foundation

/// The connections of a process to the database, for all accounts in it.
///
/// One connection, the desk, does all reading and writing, a few milliseconds at a time. A lease has one of its own, on
/// which a transaction stays open: while it waits its turn, and as long as it lasts.
final class PostgreSQLDatabase: Sendable {
    /// How many connections are kept for leases to come.
    private static let spareLinks = 2

    let table: PostgreSQLTable
    let limits: PostgreSQLLimits
    let time: any TimeSource
    let desk: PostgreSQLLink

    /// Tells this process's claims on leases from others'.
    let holder = UUID().uuidString

    private let place: ConnectionString
    private let pacer: ReconnectPacer
    private let idle = Locked<[PostgreSQLLink]>([])

    init(place: ConnectionString, table: PostgreSQLTable, limits: PostgreSQLLimits, time: any TimeSource) {
        self.place = place
        self.table = table
        self.limits = limits
        self.time = time
        pacer = ReconnectPacer(limits: limits, time: time)
        desk = PostgreSQLLink(place: place, limits: limits, pacer: pacer)
    }

    /// A connection that nobody else uses until it is given back.
    func takeLink() -> PostgreSQLLink {
        idle.withLock { $0.popLast() } ?? PostgreSQLLink(place: place, limits: limits, pacer: pacer)
    }

    /// Keeps a connection for the next lease, or closes it. No transaction may be open on it.
    func giveBack(_ link: PostgreSQLLink) {
        idle.withLock { idle in
            if idle.count < Self.spareLinks { idle.append(link) }
        }
    }

    /// Creates the table, if it is not there.
    ///
    /// Of several programs that do so at once, each waits for the one before: `IF NOT EXISTS` alone lets two of them
    /// collide.
    func prepare() async throws(TokenStoreError) {
        let key: Int64 = 0x6C61_7463_686B_6579
        let definition = PostgreSQLStatement(text: table.definition)
        try await desk.run { connection throws(PostgreSQLFailure) in
            try connection.transaction { connection throws(PostgreSQLFailure) in
                let lock = PostgreSQLStatement(text: "SELECT pg_advisory_xact_lock($1)", values: [.integer(key)])
                try connection.execute(lock)
                try connection.execute(definition)
            }
        }
    }
}
#endif
