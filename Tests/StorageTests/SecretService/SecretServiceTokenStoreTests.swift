#if os(Linux)
import Foundation
import Testing
import TestSupport

@Suite(
    "The keyring store over a real keyring on a private bus",
    .enabled(if: PrivateKeyring.isInstalled, "dbus-daemon and gnome-keyring-daemon are not installed"),
    .timeLimit(.minutes(10)))
struct SecretServiceTokenStoreTests {
    private let keyring: PrivateKeyring

    private let process: StorageDialogue

    init() async throws {
        keyring = try await PrivateKeyring()
        try await keyring.start()
        process = try keyring.dialogue()
    }

    @Test func `the store keeps the contracts while the keyring is unlocked`() async throws {
        try await process.expect(["contract": "kept"])
    }

    @Test func `G23: a name with a zero byte is not that of the account before it`() async throws {
        try await process.expect(["save": "0", "load-cut": "unavailable"])
    }

    @Test func `G36: an item of a later version is changed by delete only; the error says what to do`() async throws {
        #expect(try await process.send("store-later") == "done")
        for command in ["load", "save", "overwrite", "end"] {
            let response = try await process.send(command) ?? "the process has ended"
            #expect(response.hasPrefix("unsupportedVersion: "), "\(response)")
            #expect(response.contains("update this program"), "\(response)")
        }
        try await process.expect(["has-later": "true", "delete": "done", "load": "none"])
    }

    @Test(arguments: ["save", "load"])
    func `G14: a locked keyring is unavailable for every call and never none`(first: String) async throws {
        _ = try await process.send(first)
        try await keyring.lock()
        try await process.expectUnavailable(
            ["load", "save", "delete", "overwrite"], beginning: "the keyring is locked")
    }

    @Test func `G14: a keyring that starts locked is unavailable until it is unlocked`() async throws {
        #expect(try await process.send("save") == "0")
        await keyring.kill()
        try await keyring.start(isUnlocked: false)
        try await keyring.dialogue().expectUnavailable(["load"], beginning: "the keyring is locked")
        await keyring.kill()
        try await keyring.start()
        #expect(try await keyring.dialogue().send("load") == "0")
    }

    @Test func `G14: without service, bus or library the store is unavailable, and the error names it`() async throws {
        let keyring = try await PrivateKeyring()
        let nowhere = ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere/bus"]
        let broken = keyring.locks.appendingPathComponent("libsecret-1.so.0")
        try broken.writePrivately(Data("no library".utf8))
        let absences = [
            ([:], "the Secret Service failed"), (nowhere, "the Secret Service failed"),
            (["LD_LIBRARY_PATH": keyring.locks.path], "libsecret-1.so.0 is not installed"),
        ]
        for (changes, words) in absences {
            try await keyring.dialogue(changes).expectUnavailable(["load", "overwrite", "delete"], beginning: words)
        }
    }

    @Test func `a keyring killed between calls is unavailable until it restarts, for each process`() async throws {
        #expect(try await process.send("save") == "0")
        #expect(try await keyring.dialogue().send("load") == "0")
        await keyring.kill()
        try await process.expectUnavailable(["load"])
        try await keyring.start()
        for process in [process, try keyring.dialogue()] { #expect(try await process.send("load") == "0") }
        await keyring.kill()
        try await keyring.start()
        #expect(try await process.send("save") == "1")
    }

    @Test func `a keyring that is killed during a call is unavailable`() async throws {
        #expect(try await process.send("save") == "0")
        keyring.stop()
        try process.process.write("load\n")
        await keyring.kill()
        #expect(await process.response()?.hasPrefix("unavailable") == true)
    }

    @Test func `a service that hangs is unavailable after the limit, until it responds again`() async throws {
        #expect(try await process.send("save") == "0")
        let process = try keyring.dialogue(["CALL_LIMIT": "2"])
        keyring.stop()
        try await process.expectUnavailable(
            ["load"], beginning: "the Secret Service", containing: "did not respond within")
        keyring.signal(SIGCONT)
        // New calls fail until the call that has passed its limit has ended.
        var response = try await process.send("load")
        while response?.hasPrefix("unavailable") == true { response = try await process.send("load") }
        #expect(response == "0")
    }

    @Test func `without a default keyring every call fails, and a load never returns none`() async throws {
        let keyring = try await PrivateKeyring()
        try await keyring.start(isUnlocked: false)
        try await keyring.dialogue().expectUnavailable(
            ["load", "overwrite", "delete"], beginning: "the default keyring is missing")
    }

    @Test func `six accounts wait for a service that hangs at the same time, for one limit`() async throws {
        let process = try keyring.dialogue(["CALL_LIMIT": "10"])
        keyring.stop()
        let response = try #require(try await process.send("load-six"))
        let parts = response.split(separator: " ")
        #expect(parts.first == "unavailable", "\(response)")
        // One limit is 10 s; six in a row are 60 s.
        let seconds = try #require(parts.last.flatMap { Double($0) })
        #expect(seconds < 40, "\(response)")
    }

    @Test func `when the bus is closed the process continues, and the store is unavailable`() async throws {
        #expect(try await process.send("save") == "0")
        keyring.bus.kill()
        _ = await keyring.bus.end()
        for _ in 1...2 {
            try await process.expectUnavailable(["load"])
            #expect(try await process.send("iterate") == "done")
        }
    }

    @Test func `many accounts use the service at once without losing an update`() async throws {
        try await process.expect(["busy-accounts": "30"])
    }

    @Test func `a process is notified of the writes of another one, from the first sign-in on`() async throws {
        let watcher = try keyring.dialogue()
        let writer = try keyring.dialogue()
        for generation in ["0", "100"] {
            #expect(try await watcher.send("await-session") == "watching")
            #expect(try await writer.send(generation == "0" ? "save" : "overwrite") != nil)
            #expect(await watcher.response() == generation)
            #expect(try await writer.send("end") == "done")
        }
    }

    @Test func `G13: processes that refresh one shared session in turn never use a refresh token twice`() async throws {
        #expect(try await process.send("save") == "0")
        let processes = try (0..<3).map { _ in
            try SpawnedProcess(peer: "rotate", keyring.locks, 10, environment: keyring.environment)
        }
        for process in processes { #expect(await process.remainingLines() == ["refreshed 10"]) }
        #expect(try await process.send("load") == "30")
    }
}
#endif
