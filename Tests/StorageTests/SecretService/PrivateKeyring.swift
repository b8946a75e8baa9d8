#if os(Linux)
import ConcurrencyPrimitives
import Foundation
import Testing
import TestSupport

/// A session bus of its own with a real keyring on it, for one test.
final class PrivateKeyring: Sendable {
    static let isInstalled = [bus, monitor, sender, daemon].allSatisfy(FileManager.default.isExecutableFile)

    private static let bus = "/usr/bin/dbus-daemon"
    private static let monitor = "/usr/bin/dbus-monitor"
    private static let sender = "/usr/bin/dbus-send"
    private static let daemon = "/usr/bin/gnome-keyring-daemon"

    /// The bus starts no service on demand: the test does.
    private static let configuration = """
        <busconfig><type>session</type><listen>unix:path=PATH</listen><auth>EXTERNAL</auth>
        <policy context="default"><allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/>
        <allow user="*"/></policy></busconfig>
        """

    let bus: SpawnedProcess

    /// The environment of processes that use this bus and keyring.
    let environment: [String: String]

    /// A folder for lock files.
    let locks: URL

    private let temporary: TemporaryFolder
    private let running = Locked<SpawnedProcess?>(nil)

    /// Starts the bus. There is no keyring yet.
    init() async throws {
        temporary = TemporaryFolder()
        locks = temporary.fresh()
        let socket = temporary.url.appendingPathComponent("bus").path
        let configuration = temporary.url.appendingPathComponent("bus.conf")
        try Self.configuration.replacingOccurrences(of: "PATH", with: socket)
            .write(to: configuration, atomically: true, encoding: .utf8)
        for name in ["home", "data", "run"] { try temporary.url.appendingPathComponent(name).makePrivateFolder() }
        environment = [
            "PATH": "/usr/bin:/bin",
            "HOME": temporary.url.appendingPathComponent("home").path,
            "XDG_DATA_HOME": temporary.url.appendingPathComponent("data").path,
            "XDG_RUNTIME_DIR": temporary.url.appendingPathComponent("run").path,
            "DBUS_SESSION_BUS_ADDRESS": "unix:path=\(socket)",
            "STORE": "keyring",
        ]
        let arguments = ["--config-file=\(configuration.path)", "--nofork", "--print-address"]
        bus = try SpawnedProcess(Self.bus, arguments, environment: environment)
        _ = await bus.lines.first { _ in true }
    }

    deinit {
        running.withLock { $0 }?.kill()
        bus.kill()
    }

    /// Starts the keyring, which is given its password or not, and waits until it is on the bus.
    func start(isUnlocked: Bool = true) async throws {
        let rule = "type='signal',member='NameOwnerChanged',arg0='org.freedesktop.secrets'"
        let monitor = try SpawnedProcess(Self.monitor, ["--profile", rule], environment: environment)
        defer { monitor.kill() }
        var events = monitor.lines.makeAsyncIterator()
        while let event = await events.next(), !event.contains("NameAcquired") {}
        let arguments = ["--foreground", "--components=secrets"] + (isUnlocked ? ["--unlock"] : [])
        let keyring = try SpawnedProcess(Self.daemon, arguments, environment: environment)
        running.withLock { $0 = keyring }
        if isUnlocked { try keyring.write("password") }
        try keyring.finishInput()
        while let event = await events.next(), !event.contains("NameOwnerChanged") {}
    }

    /// Locks the keyring, as a user or a screen saver does.
    ///
    /// A keyring is on the bus before it has made, or unlocked, what it is to lock: then it has locked nothing, and is
    /// asked again.
    func lock() async throws {
        var isLocked = false
        while !isLocked { isLocked = try await hasLocked() }
    }

    private func hasLocked() async throws -> Bool {
        let service = "org.freedesktop.Secret.Service.Lock"
        let keyring = "array:objpath:/org/freedesktop/secrets/collection/login"
        let arguments = ["--session", "--print-reply", "--dest=org.freedesktop.secrets", "/org/freedesktop/secrets"]
        let call = try SpawnedProcess(Self.sender, arguments + [service, keyring], environment: environment)
        let reply = await call.remainingLines().joined()
        try #require(await call.end() == .status(0))
        return reply.contains("/collection/login")
    }

    func signal(_ signal: Int32) { running.withLock { $0 }?.kill(signal) }

    /// Stops the keyring, and returns when it has stopped.
    func stop() { running.withLock { $0 }?.stop() }

    /// Ends the keyring at once, and waits until it has ended.
    func kill() async {
        let keyring = running.withLock { $0 }
        keyring?.kill()
        _ = await keyring?.end()
    }

    func dialogue(_ changes: [String: String] = [:]) throws -> StorageDialogue {
        let environment = environment.merging(changes) { $1 }
        return StorageDialogue(try SpawnedProcess(peer: "dialogue", locks, environment: environment))
    }
}
#endif
