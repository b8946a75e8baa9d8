#if PostgreSQL
import ConcurrencyPrimitives
import Foundation
import Storage
import Testing

@testable import PostgreSQLStorage

/// A private PostgreSQL server, in a temporary folder, with a socket in that folder only.
final class PostgreSQLServer: DatabaseAddress {
    /// One server with the table, for all tests that do not stop or change it.
    static var shared: PostgreSQLServer { get async throws { try await starting.value } }

    /// With connections for the pools of all tests that run at once.
    private static let starting = Task { try await PostgreSQLServer(connections: 297) }

    var folder: String { script.folder }

    /// The connection string of its superuser.
    var connection: String { "host=\(folder) user=latchkey dbname=postgres" }

    private let script: ServerScript
    private let queue = BlockingQueue(label: "test-database")

    /// Starts a server with connections for others than its superuser, and creates the table.
    init(connections: Int = 97) async throws {
        script = try await ServerScript(Self.script) { [$0, $1, "\(connections + 3)"] }
        try await store().prepare()
    }

    /// A store whose connections the server lists under the name of its account.
    func named(
        _ account: String = UUID().uuidString, cipher: any TokenCipher = UnencryptedTokenCipher(),
        limits: PostgreSQLLimits = .patient, clock: any TimeSource = SystemTimeSource()
    ) -> PostgreSQLTokenStore {
        ConnectionTo("\(connection) application_name=\(account)")
            .store(account, cipher: cipher, limits: limits, clock: clock)
    }

    /// Stops the server as a crash would, without closing its connections.
    func crash() async throws { try await script.perform("crash", until: "stopped") }

    func start() async throws { try await script.perform("start", until: "started") }

    func finish() async { await script.finish() }

    /// Runs one statement as superuser.
    @discardableResult
    func run(_ text: String, _ values: [PostgreSQLValue] = []) async throws -> PostgreSQLRows {
        try await queue.run { [connection] () throws(PostgreSQLFailure) in
            let open = try PostgreSQLConnection.open(ConnectionString(connection), limits: .patient)
            return try open.execute(PostgreSQLStatement(text: text, values: values))
        }
    }

    func set(_ assignments: String, of account: String) async throws {
        try await run("UPDATE latchkey_tokens SET \(assignments) WHERE account = $1", [.text(account)])
    }

    func wait(until question: String, _ values: [PostgreSQLValue] = []) async throws {
        while try await !run(question, values).flag(0) { try Task.checkCancellation() }
    }

    /// The first process of the server.
    var postmaster: pid_t {
        get throws {
            let text = try String(contentsOfFile: folder + "/data/postmaster.pid", encoding: .utf8)
            return try #require(text.split(separator: "\n").first.flatMap { pid_t($0) })
        }
    }

    private static let script = """
        programs=$1
        folder=$2
        connections=$3
        trap '' INT TERM
        cd "$folder" || exit 1
        "$programs/initdb" -D data -U latchkey -A trust -E UTF8 --locale=C --no-sync >log 2>&1 || { cat log; exit 1; }
        { echo 'local all guarded scram-sha-256'; cat data/pg_hba.conf; } >admission
        cat admission >data/pg_hba.conf
        cat >>data/postgresql.conf <<END
        listen_addresses = ''
        unix_socket_directories = '$folder'
        max_connections = $connections
        fsync = off
        END
        start() { "$programs/pg_ctl" -D data -l log -w -t 60 start >/dev/null && echo started || cat log; }
        stop() { "$programs/pg_ctl" -D data -m immediate -w stop >/dev/null; }
        start
        while read -r word; do
            case $word in
            crash) stop; echo stopped ;;
            start) start ;;
            esac
        done
        stop
        cd / && rm -rf "$folder"
        """
}

extension PostgreSQLLimits {
    /// No wait ends because the machine of a test is slow.
    static let patient = Self().with { limits in
        limits.call = .seconds(3_600)
        limits.connect = .seconds(3_600)
        limits.statement = .seconds(3_600)
        // Autovacuum locks the table at times. A pause after a row that is locked would last forever on a manual clock.
        limits.rowLock = .seconds(3_600)
        limits.cipher = .seconds(3_600)
        limits.claim = .seconds(3_600)
    }

    func with(_ change: (inout Self) -> Void) -> Self {
        var limits = self
        change(&limits)
        return limits
    }
}

extension Trait where Self == ConditionTrait {
    static var needsPostgreSQL: Self { .enabled(if: PostgreSQLPrograms.found != nil, PostgreSQLPrograms.absence) }
}
#endif
