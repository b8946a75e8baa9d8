#if PostgreSQL
import Foundation
import Testing

/// The programs of a PostgreSQL server on this machine, and the user that runs them.
struct PostgreSQLPrograms: Sendable {
    static let absence: Comment = """
        PostgreSQL's server programs (initdb, pg_ctl) were not found, or no user but root to run them as: install the \
        server (Debian: postgresql), or name its folder in LATCHKEY_POSTGRESQL_BIN
        """

    static let found = PostgreSQLPrograms()

    let folder: String

    /// The user that runs them if the tests run as root, which the server refuses.
    let user: (id: uid_t, group: gid_t)?

    private init?() {
        guard let folder = Self.folders.first(where: Self.hasPrograms) else { return nil }
        self.folder = folder
        guard geteuid() == 0 else {
            user = nil
            return
        }
        guard let other = getpwnam("postgres")?.pointee ?? getpwuid(65_534)?.pointee,
            FileManager.default.isExecutableFile(atPath: Self.switcher)
        else { return nil }
        user = (other.pw_uid, other.pw_gid)
    }

    /// Creates a folder that belongs to the user. Its path is short, because that of a socket is limited to 100 bytes.
    func makeFolder() throws -> String {
        let folder = "/tmp/latchkey-pg-" + UUID().uuidString.prefix(8)
        var attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
        if let user { attributes[.ownerAccountID] = NSNumber(value: user.id) }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try FileManager.default.setAttributes(attributes, ofItemAtPath: folder)
        return folder
    }

    /// A command line that runs a shell script as the right user.
    func shell(_ script: String, _ arguments: [String]) -> (executable: String, arguments: [String]) {
        let command = ["/bin/sh", "-c", script, "sh"] + arguments
        guard let user else { return (command[0], Array(command[1...])) }
        return (Self.switcher, ["--reuid=\(user.id)", "--regid=\(user.group)", "--clear-groups"] + command)
    }

    private static let switcher = "/usr/bin/setpriv"

    private static var folders: [String] {
        let environment = ProcessInfo.processInfo.environment
        if let named = environment["LATCHKEY_POSTGRESQL_BIN"] { return [named] }
        let debian = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: debian)) ?? []
        let newestFirst = versions.compactMap(Int.init).sorted(by: >).map { "\(debian)/\($0)/bin" }
        return newestFirst + (environment["PATH"] ?? "").split(separator: ":").map(String.init)
    }

    private static func hasPrograms(_ folder: String) -> Bool {
        ["initdb", "pg_ctl"].allSatisfy { FileManager.default.isExecutableFile(atPath: "\(folder)/\($0)") }
    }
}
#endif
