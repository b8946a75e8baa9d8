import AuthInterface
import Foundation
import Testing

@testable import Storage

@Suite("A save leaves no other files and loses no data", .timeLimit(.minutes(10)))
struct FileTokenStoreWritingTests: TemporaryStoreTests {
    let place = TemporaryStore(account: "ada")

    @Test func `the temporary file of a killed writer is replaced by a save and removed by a delete`() async throws {
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

    @Test func `interrupted and partial system calls write all bytes, and a failed one is not repeated`() throws {
        var (written, calls) = (Data(), 0)
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
        calls = 0
        let error = #expect(throws: SystemCallError.self) {
            try file.writeAll(Data([1])) { _, _, _ in
                calls += 1
                errno = ENOSPC
                return -1
            }
        }
        #expect(error?.number == ENOSPC && calls == 1)
    }

    @Test func `a failed call is unavailable, and the reason names the call and the cause`() {
        let error = TokenStoreError.system(SystemCallError(number: ENOSPC), "write", "/tokens/ada.json")
        #expect(error.code == .unavailable)
        #expect(error.reason == "could not write /tokens/ada.json: No space left on device")
        #expect((error.cause as? POSIXError)?.code == .ENOSPC)
    }

    @Test func `a save whose task is cancelled is completed: its tokens may be the only valid ones`() async throws {
        let save = Task {
            while !Task.isCancelled { await Task.yield() }
            try await store.save(.numbered(1))
        }
        save.cancel()
        try await save.value
        #expect(try await store.load() == .numbered(1))
    }
}
