#if PostgreSQL
import AuthInterface
import Foundation
import Testing

@testable import Storage

/// A PostgreSQL server of the test's own, in a folder of its own, to be reached by a socket in that folder only.
///
/// A shell script starts it, stops it at a word, and in the end stops it for good and removes the folder: when its
/// input ends, which it does with the test's process, whichever way that goes.
final class PostgreSQLServer: Sendable {
    /// One server for all tests that leave it as it is, with the table in place.
    static var shared: PostgreSQLServer {
        get async throws { try await starting.value }
    }

    private static let starting = Task {
        let server = try await PostgreSQLServer()
        try await server.store("prepared").prepare()
        return server
    }

    struct DidNotStart: Error {
        let said: [String]
    }

    let folder: String

    /// How to reach it as the user who may do everything.
    var connection: String { "host=\(folder) user=latchkey dbname=postgres" }

    private let script: ChildProcess
    private let journal: Journal
    private let queue = BlockingQueue(label: "test-database")

    init() async throws {
        guard let programs = PostgreSQLPrograms.found else { throw DidNotStart(said: ["no programs"]) }
        folder = try Self.makeFolder(owner: programs.user?.id)
        let journal = Journal()
        let shell = programs.shell(Self.script, [programs.folder, folder])
        self.journal = journal
        script = try ChildProcess(shell.executable, shell.arguments) { line in
            if let line { journal.append(line) } else { journal.close() }
        }
        guard await journal.waitFor(where: { $0 == "started" }) else { throw DidNotStart(said: journal.lines) }
    }

    /// A store in it, whose tokens are not encrypted unless a cipher is given.
    func store(
        _ account: String = UUID().uuidString,
        table: PostgreSQLTable = .standard,
        cipher: any TokenCipher = UnencryptedTokenCipher(),
        limits: PostgreSQLLimits = PostgreSQLLimits(),
        time: any TimeSource = SystemTimeSource()
    ) -> PostgreSQLTokenStore {
        PostgreSQLTokenStore(
            connection: connection,
            account: account,
            table: table,
            cipher: cipher,
            limits: limits,
            time: time
        )
    }

    /// Stops the server as a crash would: without a word to anybody.
    func crash() async throws { try await command("crash", until: "stopped") }

    /// Starts the server again.
    func start() async throws { try await command("start", until: "started") }

    /// Stops the server for good.
    func finish() async { await script.finish() }

    /// Runs one statement, as the user who may do everything.
    @discardableResult
    func run(_ text: String, _ values: [PostgreSQLValue] = []) async throws -> PostgreSQLAnswer {
        try await queue.run { [connection] () throws(PostgreSQLFailure) in
            let place = ConnectionString(connection)
            let open = try PostgreSQLConnection.open(place, limits: PostgreSQLLimits())
            return try open.execute(PostgreSQLStatement(text: text, values: values))
        }
    }

    /// Waits until what a statement asks is so.
    func wait(until question: String, _ values: [PostgreSQLValue] = []) async throws {
        while try await !run(question, values).flag(0) { try Task.checkCancellation() }
    }

    private func command(_ word: String, until answer: String) async throws {
        let said = journal.lines.count
        try script.say(word)
        guard await journal.waitFor(after: said, where: { $0 == answer }) else {
            throw DidNotStart(said: journal.lines)
        }
    }

    /// A folder with a short path: that of a socket has to fit 100 bytes.
    private static func makeFolder(owner: uid_t?) throws -> String {
        let folder = "/tmp/latchkey-pg-" + UUID().uuidString.prefix(8)
        var attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
        if let owner { attributes[.ownerAccountID] = NSNumber(value: owner) }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try FileManager.default.setAttributes(attributes, ofItemAtPath: folder)
        return folder
    }

    private static let script = """
        programs=$1
        folder=$2
        trap '' INT TERM
        cd "$folder" || exit 1
        "$programs/initdb" -D data -U latchkey -A trust -E UTF8 --locale=C --no-sync >log 2>&1 || { cat log; exit 1; }
        { echo 'local all guarded scram-sha-256'; cat data/pg_hba.conf; } >admission
        cat admission >data/pg_hba.conf
        cat >>data/postgresql.conf <<END
        listen_addresses = ''
        unix_socket_directories = '$folder'
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

extension Trait where Self == ConditionTrait {
    /// The test needs a database server.
    static var needsPostgreSQL: Self { .enabled(if: PostgreSQLPrograms.found != nil, PostgreSQLPrograms.absence) }
}
#endif
