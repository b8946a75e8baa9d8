import AuthInterface
import Foundation
import Testing

@testable import Storage

@Suite("What a save leaves behind")
struct FileTokenStoreWritingTests {
    private let temporary: TemporaryFolder
    private let folder: URL
    private let store: FileTokenStore

    init() throws {
        temporary = try TemporaryFolder()
        folder = temporary.fresh()
        store = FileTokenStore(folder: folder, account: "ada")
    }

    @Test("What a killed writer has left is replaced by the next save and removed by the next delete")
    func leftovers() async throws {
        try await store.save(.numbered(1))
        let clean = try folder.names
        let leftover = folder.appendingPathComponent("ada.json.tmp")
        let calls: [() async throws -> Void] = [{ try await store.save(.numbered(2)) }, { try await store.delete() }]
        for call in calls {
            try leftover.writePrivately(Data("half a bund".utf8))
            try await call()
            #expect(!FileManager.default.fileExists(atPath: leftover.path))
        }
        #expect(try folder.names == clean.filter { $0 != "ada.json" })
    }

    @Test("A sign-out removes the copies that earlier versions made, and those of this account only")
    func earlierCopies() async throws {
        let copies = ["ada.json.tmp-1", "ada.json.corrupt-20270115T080000Z", "ada.json.corrupt-20270115T080000Z-2"]
        let foreign = folder.appendingPathComponent("bob.json.tmp-1")
        let ended = EndedSession(session: SessionID(), reason: .byUser, date: Date())
        let signOuts: [() async throws -> Void] = [
            { try await store.delete() }, { try await store.update { _ in .empty } },
            { try await store.update { _ in .ended(ended) } },
        ]
        try foreign.writePrivately(Data("of another account".utf8))
        for signOut in signOuts {
            try await store.save(.numbered(1))
            for copy in copies { try folder.appendingPathComponent(copy).writePrivately(Data("refresh-1".utf8)) }
            try await signOut()
            #expect(try folder.names.filter { copies.contains($0) } == [])
        }
        #expect(FileManager.default.fileExists(atPath: foreign.path))
    }

    @Test("Bytes arrive whole although calls are interrupted and write less than they are asked to")
    func shortWrites() throws {
        var written = Data()
        var calls = 0
        let file = Descriptor(number: open("/dev/null", O_WRONLY))
        let data = Data((0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        try file.writeAll(data) { _, bytes, count in
            calls += 1
            if calls.isMultiple(of: 3) {
                errno = EINTR
                return -1
            }
            let part = min(count, calls)
            written.append(Data(bytes: bytes, count: part))
            return part
        }
        #expect(written == data)
    }

    @Test("A call that fails for good is not tried again, and its errno comes through")
    func failedWrite() {
        var calls = 0
        let file = Descriptor(number: open("/dev/null", O_WRONLY))
        let error = #expect(throws: SystemCallError.self) {
            try file.writeAll(Data([1])) { _, _, _ in
                calls += 1
                errno = ENOSPC
                return -1
            }
        }
        #expect(error?.number == ENOSPC)
        #expect(calls == 1)
    }

    @Test("A failed call is `unavailable`, and says what was tried and why it failed")
    func failedCall() {
        let error = TokenStoreError.system(SystemCallError(number: ENOSPC), "write", "/tokens/ada.json")
        #expect(error.code == .unavailable)
        #expect(error.reason == "could not write /tokens/ada.json: No space left on device")
        #expect((error.cause as? POSIXError)?.code == .ENOSPC)
    }

    @Test("A save whose task is cancelled is made all the same: its tokens may be the only good ones")
    func cancelledSave() async throws {
        let save = Task {
            while !Task.isCancelled { await Task.yield() }
            try await store.save(.numbered(1))
        }
        save.cancel()
        try await save.value
        #expect(try await store.load() == .numbered(1))
    }

    @Test("A late answer of the same session is refused with `superseded`; the same bundle again is not")
    func superseded() async throws {
        try await store.save(.numbered(5))
        try await store.save(.numbered(5))
        let rival = TokenBundle(
            accessToken: "access-rival",
            refreshToken: "refresh-rival",
            session: SessionID(rawValue: "session-1"),
            generation: 5
        )
        for late in [.numbered(4), rival] {
            let error = await storeError { try await store.save(late) }
            #expect(error?.code == .superseded)
        }
        #expect(try await store.load() == .numbered(5))
        try await store.save(.numbered(0, of: SessionID(rawValue: "session-2")))
        #expect(try await store.load()?.session.rawValue == "session-2")
    }

    @Test("A save that waits for another process in vain is `busy`, and loads do not wait with it")
    func stuckWriter() async throws {
        try await store.save(.numbered(1))
        guard let open = try PrivateFolder.open(folder.path), let lock = try open.tryLock("ada.json.lock") else {
            Issue.record("the lock is not free")
            return
        }
        let tokens = TokenFile(folder: .test(folder.path), name: "ada.json", writeLimit: .milliseconds(5))
        let save = #expect(throws: TokenStoreError.self) { try tokens.update { _ in .active(.numbered(2)) } }
        let delete = #expect(throws: TokenStoreError.self) { try tokens.delete() }
        #expect([save?.code, delete?.code] == [.busy, .busy])
        #expect(save?.reason.contains("has kept \(folder.path)/ada.json.lock locked for 5 ms") == true)
        let patient = Task { try await store.save(.numbered(2)) }
        #expect(try await store.load() == .numbered(1))
        lock.release()
        try await patient.value
        #expect(try await store.load() == .numbered(2))
    }

    @Test("A lock file that was removed under its holder is found out: the lock is on the file that has the name")
    func removedLockFile() async throws {
        try await store.save(.numbered(1))
        let first = try await store.lease(waitingAtMost: .zero)
        try FileManager.default.removeItem(at: store.file.appendingPathExtension("lease"))
        let second = try await store.lease(waitingAtMost: .zero)
        #expect(await storeError { _ = try await store.lease(waitingAtMost: .zero) }?.code == .busy)
        await first.release()
        #expect(await storeError { _ = try await store.lease(waitingAtMost: .zero) }?.code == .busy)
        await second.release()
    }
}
