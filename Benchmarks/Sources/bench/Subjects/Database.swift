import AuthInterface
import Foundation
import PostgreSQLStorage
import Storage

/// A private PostgreSQL server in a temporary folder. It ends with this process.
struct Database {
    /// Why there is none.
    static let absence = "PostgreSQL is not installed (Debian: postgresql), or there is no user for it"

    let connection: String
    private let script: Child

    /// - Returns: `nil` when the server's programs are not found.
    init?() throws {
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
        let folders = versions.compactMap(Int.init).sorted(by: >).map { "/usr/lib/postgresql/\($0)/bin" }
        let programs = folders.first { FileManager.default.isExecutableFile(atPath: "\($0)/initdb") }
        guard let programs else { return nil }
        let shell = ["/bin/sh", "-c", Self.script, "sh", programs]
        // The server refuses to run as root.
        let user = ["/usr/bin/setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        let command = geteuid() == 0 ? user + shell : shell
        script = try Child(command[0], Array(command.dropFirst()))
        guard let folder = script.readLine() else { throw BenchError("PostgreSQL did not start") }
        connection = "host=\(folder) user=latchkey dbname=postgres"
    }

    /// The store of an account, with the tables that it needs.
    func store(for account: String) async throws -> any TokenStore {
        let store = PostgreSQLTokenStore(connection: connection, cipher: UnencryptedTokenCipher())
        try await store.prepare()
        return store.store(for: account)
    }

    func end() throws { try script.end() }

    private static let script = """
        trap '' INT TERM
        folder=$(mktemp -d /tmp/bench-pg.XXXXXX) && cd "$folder" || exit 1
        "$1/initdb" -D data -U latchkey -A trust -E UTF8 --locale=C --no-sync >log 2>&1 || exit 1
        cat >>data/postgresql.conf <<END
        listen_addresses = ''
        unix_socket_directories = '$folder'
        max_connections = 20
        superuser_reserved_connections = 0
        max_wal_senders = 0
        END
        "$1/pg_ctl" -D data -l log -w start >/dev/null || exit 1
        echo "$folder"
        cat >/dev/null
        "$1/pg_ctl" -D data -m immediate -w stop >/dev/null
        cd / && rm -rf "$folder"
        """
}
