#if PostgreSQL
import Foundation
import Testing

/// A PgBouncer in front of a server, in transaction mode: a client has a server connection for one transaction.
final class PgBouncer: DatabaseAddress {
    static let absence: Comment = "PgBouncer was not found (Debian: pgbouncer)"

    static var isFound: Bool { FileManager.default.isExecutableFile(atPath: program) }

    private static let program = "/usr/sbin/pgbouncer"

    var connection: String { "host=\(script.folder) port=6432 user=latchkey dbname=postgres" }

    private let script: ServerScript

    /// Starts a pooler, which logs in to a server as one role.
    init(before server: PostgreSQLServer, as user: String = "latchkey", connections: Int = 20) async throws {
        script = try await ServerScript(Self.script) { [Self.program, $1, server.folder, "\(connections)", user] }
    }

    /// Kills the pooler and starts it again: all connections are cut.
    func restart() async throws { try await script.perform("restart", until: "started") }

    func finish() async { await script.finish() }

    private static let script = """
        program=$1
        folder=$2
        trap '' INT TERM
        cd "$folder" || exit 1
        cat >pgbouncer.ini <<END
        [databases]
        * = host=$3 user=$5
        [pgbouncer]
        listen_addr =
        listen_port = 6432
        unix_socket_dir = $folder
        auth_type = any
        pool_mode = transaction
        default_pool_size = $4
        max_client_conn = 1000
        logfile = $folder/log
        END
        start() {
            rm -f .s.PGSQL.6432
            "$program" -q pgbouncer.ini &
            pid=$!
            # The file is there before it listens: the flag says that it does.
            until grep -q " 00010000 .* $folder/.s.PGSQL.6432" /proc/net/unix; do
                kill -0 $pid 2>/dev/null || { cat log; exit 1; }
                sleep 0.05
            done
            echo started
        }
        stop() { kill -KILL $pid; wait $pid 2>/dev/null; }
        start
        while read -r word; do
            case $word in
            restart) stop; start ;;
            esac
        done
        stop
        cd / && rm -rf "$folder"
        """
}

extension Trait where Self == ConditionTrait {
    static var needsPgBouncer: Self { .enabled(if: PgBouncer.isFound, PgBouncer.absence) }
}
#endif
