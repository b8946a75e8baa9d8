#if os(Linux)
import AuthInterface
import Foundation
import Testing
import ProcessTesting

@Suite(
    "The keyring store over a real keyring on a private bus",
    .enabled(if: PrivateKeyring.isInstalled, "dbus-daemon and gnome-keyring-daemon are not installed")
)
struct SecretServiceTokenStoreTests {
    @Test("Unlocked, it is a token store and can be shared by processes")
    func contract() async throws {
        let keyring = try await PrivateKeyring()
        try await keyring.start()
        #expect(try await keyring.talker().tell("contract") == "kept")
    }

    @Test("Every process of the user sees what is stored, and finds it again after a restart of the keyring")
    func persistence() async throws {
        let keyring = try await PrivateKeyring()
        try await keyring.start()
        #expect(try await keyring.talker().tell("save") == "0")
        #expect(try await keyring.talker().tell("load") == "0")
        await keyring.kill()
        try await keyring.start()
        #expect(try await keyring.talker().tell("load") == "0")
    }

    @Test("G14: locked, it is `unavailable` for every call and never none, whether something is stored or not")
    func locked() async throws {
        for commands in [["save"], ["load"]] {
            let keyring = try await PrivateKeyring()
            try await keyring.start()
            let talker = try keyring.talker()
            for command in commands { _ = try await talker.tell(command) }
            try await keyring.lock()
            for command in ["load", "save", "delete", "overwrite"] {
                let answer = try await talker.tell(command)
                #expect(answer?.hasPrefix("unavailable: the keyring is locked") == true, "\(command): \(answer ?? "")")
            }
        }
    }

    @Test("G14: locked from its start, it is `unavailable`; unlocked, it has what it had")
    func lockedFromStart() async throws {
        let keyring = try await PrivateKeyring()
        try await keyring.start()
        #expect(try await keyring.talker().tell("save") == "0")
        await keyring.kill()
        try await keyring.start(isUnlocked: false)
        #expect(try await keyring.talker().tell("load")?.hasPrefix("unavailable: the keyring is locked") == true)
        await keyring.kill()
        try await keyring.start()
        #expect(try await keyring.talker().tell("load") == "0")
    }

    @Test("G14: without a service, a bus or the library it is `unavailable`, and says which")
    func absent() async throws {
        let keyring = try await PrivateKeyring()
        let nowhere = ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere/bus"]
        let broken = keyring.locks.appendingPathComponent("libsecret-1.so.0")
        try broken.writePrivately(Data("no library".utf8))
        let absences = [
            ([:], "the Secret Service did not answer"), (nowhere, "the Secret Service did not answer"),
            (["LD_LIBRARY_PATH": keyring.locks.path], "libsecret-1.so.0 is not installed"),
        ]
        for (changes, words) in absences {
            let talker = try keyring.talker(changes)
            for command in ["load", "overwrite", "delete"] {
                let answer = try await talker.tell(command)
                #expect(answer?.hasPrefix("unavailable: \(words)") == true, "\(command): \(answer ?? "")")
            }
        }
    }

    @Test("Killed between two calls, it is `unavailable`; started anew, the same process goes on with it")
    func killed() async throws {
        let keyring = try await PrivateKeyring()
        try await keyring.start()
        let talker = try keyring.talker()
        #expect(try await talker.tell("save") == "0")
        await keyring.kill()
        #expect(try await talker.tell("load")?.hasPrefix("unavailable") == true)
        try await keyring.start()
        #expect(try await talker.tell("load") == "0")
        await keyring.kill()
        try await keyring.start()
        #expect(try await talker.tell("save") == "1")
    }

    @Test("Killed in the middle of a call, it is `unavailable`")
    func killedInCall() async throws {
        let keyring = try await PrivateKeyring()
        try await keyring.start()
        let talker = try keyring.talker()
        #expect(try await talker.tell("save") == "0")
        keyring.stop()
        try talker.process.say("load\n")
        await keyring.kill()
        #expect(await talker.answer()?.hasPrefix("unavailable") == true)
    }

    @Test("A service that hangs is `unavailable` when the limit has passed, and answers again when it does")
    func hung() async throws {
        let keyring = try await PrivateKeyring()
        try await keyring.start()
        #expect(try await keyring.talker().tell("save") == "0")
        let talker = try keyring.talker(["TORTURE_ANSWER_LIMIT": "2"])
        keyring.stop()
        #expect(try await talker.tell("load")?.hasPrefix("unavailable") == true)
        keyring.signal(SIGCONT)
        // The call that was given up may take a moment to end, and fails new ones until then.
        var answer = try await talker.tell("load")
        while answer?.hasPrefix("unavailable") == true { answer = try await talker.tell("load") }
        #expect(answer == "0")
    }

    @Test("ST3: without a default keyring every call says so, and a load never says none")
    func noDefaultKeyring() async throws {
        let keyring = try await PrivateKeyring()
        try await keyring.start(isUnlocked: false)
        let talker = try keyring.talker()
        for command in ["load", "overwrite", "delete"] {
            let answer = try await talker.tell(command)
            let isExpected = answer?.hasPrefix("unavailable: there is no default keyring") == true
            #expect(isExpected, "\(command): \(answer ?? "")")
        }
    }

    @Test("ST9: a service that hangs keeps six accounts waiting for one limit, and not one after the other")
    func hungForManyAccounts() async throws {
        let keyring = try await PrivateKeyring()
        try await keyring.start()
        let talker = try keyring.talker(["TORTURE_ANSWER_LIMIT": "2"])
        keyring.stop()
        let answer = try #require(try await talker.tell("load-six"))
        let parts = answer.split(separator: " ")
        #expect(parts.first == "unavailable", "\(answer)")
        // One limit is 2 s; six in a row are 12 s.
        let seconds = try #require(parts.last.flatMap { Double($0) })
        #expect(seconds < 8, "\(answer)")
    }

    @Test("When the bus goes away the process lives on, and is told `unavailable`")
    func busKilled() async throws {
        let keyring = try await PrivateKeyring()
        try await keyring.start()
        let talker = try keyring.talker()
        #expect(try await talker.tell("save") == "0")
        keyring.bus.kill()
        _ = await keyring.bus.end()
        for _ in 1...2 {
            #expect(try await talker.tell("load")?.hasPrefix("unavailable") == true)
            #expect(try await talker.tell("iterate") == "done")
        }
    }

    @Test("An item that is no session is corrupt until a save replaces it or a delete removes it")
    func corrupt() async throws {
        let keyring = try await PrivateKeyring()
        try await keyring.start()
        let talker = try keyring.talker()
        #expect(try await talker.tell("spoil") == "done")
        for _ in 1...2 { #expect(try await talker.tell("load")?.hasPrefix("corrupt") == true) }
        #expect(try await talker.tell("overwrite") == "done")
        #expect(try await talker.tell("load") == "100")
        #expect(try await talker.tell("spoil") == "done")
        #expect(try await talker.tell("delete") == "done")
        #expect(try await talker.tell("load") == "none")
    }

    @Test("ST4: an item with a flipped bit in a token is corrupt, and the next save replaces it")
    func flippedBit() async throws {
        let keyring = try await PrivateKeyring()
        try await keyring.start()
        let talker = try keyring.talker()
        #expect(try await talker.tell("save") == "0")
        #expect(try await talker.tell("flip") == "done")
        #expect(try await talker.tell("load")?.hasPrefix("corrupt") == true)
        #expect(try await talker.tell("overwrite") == "done")
        #expect(try await talker.tell("load") == "100")
    }

    @Test("Threads of many accounts talk to the service at once, and lose nothing")
    func manyAccounts() async throws {
        let keyring = try await PrivateKeyring()
        try await keyring.start()
        #expect(try await keyring.talker().tell("busy-accounts") == "30")
    }

    @Test("A process is told of what another one writes, from the first sign-in on")
    func changes() async throws {
        let keyring = try await PrivateKeyring()
        try await keyring.start()
        let watcher = try keyring.talker()
        let writer = try keyring.talker()
        for generation in ["0", "100"] {
            #expect(try await watcher.tell("await-session") == "watching")
            #expect(try await writer.tell(generation == "0" ? "save" : "overwrite") != nil)
            #expect(await watcher.answer() == generation)
            #expect(try await writer.tell("end") == "done")
        }
    }

    @Test("G13: processes that refresh one shared session in turn never use a refresh token twice")
    func rotation() async throws {
        let keyring = try await PrivateKeyring()
        try await keyring.start()
        #expect(try await keyring.talker().tell("save") == "0")
        let processes = try (0..<3).map { _ in
            try SpawnedProcess(torture: "rotate", keyring.locks, 10, environment: keyring.environment)
        }
        for process in processes { #expect(await process.remainingLines() == ["refreshed 10"]) }
        #expect(try await keyring.talker().tell("load") == "30")
    }
}
#endif
