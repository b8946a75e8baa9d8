import AuthInterface
import Foundation
import PostgreSQLStorage
import Storage

/// A PostgreSQL server in a temporary folder, with a socket in that folder only.
final class Database: Sendable {
    struct DidNotStart: Error { let said: String }

    static let isInstalled = FileManager.default.fileExists(atPath: "/usr/lib/postgresql")

    private let folder: String
    private let input: Pipe

    private init(folder: String, input: Pipe) { (self.folder, self.input) = (folder, input) }

    static func start() async throws -> Database {
        let folder = "/tmp/latchkey-example-\(UUID().uuidString.prefix(8))"
        let (input, output) = (Pipe(), Pipe())
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = ["-c", script, "sh", folder]
        (shell.standardInput, shell.standardOutput, shell.standardError) = (input, output, output)
        let (lines, said) = AsyncStream.makeStream(of: String.self)
        output.fileHandleForReading.readabilityHandler = { handle in
            let data = handle.availableData
            if data.isEmpty { said.finish() } else { said.yield(String(decoding: data, as: UTF8.self)) }
        }
        defer { output.fileHandleForReading.readabilityHandler = nil }
        try shell.run()
        var all = ""
        for await text in lines {
            all += text
            if all.contains("started\n") { return Database(folder: folder, input: input) }
        }
        throw DidNotStart(said: all)
    }

    /// The server stops when the input of its script ends, also when the process of the tests ends in any way.
    func stop() { try? input.fileHandleForWriting.close() }

    func store() -> PostgreSQLTokenStore {
        PostgreSQLTokenStore(
            connection: "host=\(folder) user=latchkey dbname=postgres", cipher: UnencryptedTokenCipher())
    }

    /// Starts the session of an account, as a step of the deployment does.
    func signIn(_ tokens: TokenRefreshResult, as account: String) async throws {
        let store = store()
        try await store.prepare()
        try await store.store(for: account).save(
            TokenBundle(accessToken: tokens.accessToken, refreshToken: tokens.refreshToken))
    }

    private static let script = #"""
        folder=$1
        programs=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -1)
        mkdir -m 700 "$folder" && cd "$folder" || exit 1
        as=
        # The server refuses to run as root.
        if [ "$(id -u)" = 0 ]; then
            chown postgres "$folder"
            as="setpriv --reuid=postgres --regid=postgres --clear-groups"
        fi
        $as "$programs/initdb" -D data -U latchkey -A trust -E UTF8 --locale=C --no-sync || exit 1
        $as "$programs/pg_ctl" -D data -l log -w -t 60 \
            -o "-c listen_addresses= -c unix_socket_directories=$folder -c fsync=off" start || exit 1
        echo started
        cat >/dev/null
        $as "$programs/pg_ctl" -D data -m immediate -w stop >/dev/null 2>&1
        cd / && rm -rf "$folder"
        """#
}
