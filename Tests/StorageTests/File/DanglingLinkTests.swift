import AuthInterface
import ConcurrencyPrimitives
import Foundation
import TestSupport
import Testing

@testable import Storage

/// Homes and folders of which it is not known what is in them. The calls are made by another process, which must not
/// end.
@Suite("G14, G26: what is behind a link that leads nowhere is unavailable, never none", .timeLimit(.minutes(10)))
struct DanglingLinkTests {
    typealias Home = (name: String, links: [(link: String, target: String)])

    /// A home, and the links on the way to the folder in it. A link without a target is a file.
    private static let homes: [Home] = [
        ("home", [("home/.local/state", "missing")]), ("home", [("home/.local", "missing")]),
        ("home", [("home", "missing")]), ("home", [("home/.local/state/APPLICATION", "missing")]),
        ("home", [("home/.local", "next"), ("next", "missing")]), ("home", [("home/.local", "home/.local")]),
        ("home", [("home/.local", "")]), ("/dev/null", []), (String(repeating: "n", count: 300), []),
    ]

    /// What the kernel shows as a folder, on Linux.
    private static let kernelHomes: [Home] =
        FileManager.default.fileExists(atPath: "/proc/self") ? [("/proc/self", [])] : []

    private func path(_ name: String) -> URL {
        name.hasPrefix("/") ? URL(fileURLWithPath: name) : temporary.url.appendingPathComponent(name)
    }

    private func make(_ home: Home, for application: String) throws {
        for (name, target) in home.links {
            let link = path(name.replacingOccurrences(of: "APPLICATION", with: application))
            try link.deletingLastPathComponent().makePrivateFolder()
            if target.isEmpty {
                try Data().write(to: link)
            } else {
                try FileManager.default.createSymbolicLink(at: link, withDestinationURL: path(target))
            }
        }
    }

    private static let calls = ["load", "save", "overwrite", "end", "lease", "delete"]
    private let temporary = TemporaryFolder()

    @Test(arguments: homes + kernelHomes, [true, false])
    func `a folder is unavailable until the target of a link is there`(home: Home, isDefault: Bool) async throws {
        let application = isDefault ? temporary.url.lastPathComponent : "latchkey"
        try make(home, for: application)
        let folder = isDefault ? URL(fileURLWithPath: "/" + application) : temporary.fresh()
        let process = try StorageDialogue(
            folder, home: path(home.name).path, isDefault ? ["STORE": "application"] : [:])
        // Nothing can be stored in /proc, so there is no note in it about a folder of your choice.
        let isKnown = !isDefault && home.name == "/proc/self"
        if !isKnown { try await process.expectUnavailable(Self.calls) }
        let isMissing = home.links.contains { $0.target == "missing" }
        guard isKnown || isMissing else { return }
        if isMissing { try path("missing").makePrivateFolder() }
        try await process.expect(["load": "none", "save": "0", "load": "0"])
    }

    @Test(arguments: [false, true])
    func `a folder of your choice is unavailable while a link to it leads nowhere`(isSignedIn: Bool) async throws {
        let (link, disk) = (temporary.url.appendingPathComponent("link"), temporary.url.appendingPathComponent("disk"))
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: disk)
        if isSignedIn {
            try disk.makePrivateFolder()
            try await FileTokenStore(folder: link.appendingPathComponent("tokens")).save(.numbered(7))
            try FileManager.default.moveItem(at: disk, to: disk.appendingPathExtension("away"))
        }
        let process = try StorageDialogue(link.appendingPathComponent("tokens"), home: temporary.url.path)
        try await process.expectUnavailable(Self.calls)
        guard isSignedIn else { return }
        try FileManager.default.moveItem(at: disk.appendingPathExtension("away"), to: disk)
        #expect(try await process.send("load") == "7")
    }

    @Test func `a folder of locks behind a link that leads nowhere is unavailable`() async throws {
        let link = temporary.url.appendingPathComponent("link")
        #expect(symlink("/nowhere", link.path) == 0)
        let locks = TokenLocks(folder: link.appendingPathComponent("a/b/locks").path, name: "account")
        for call in [{ _ = try locks.tryLease(LeaseRequest()) }, { try locks.whileWriting {} }] {
            let error = await storeError { try call() }
            #expect(error?.code == .unavailable)
            #expect(error?.reason.hasSuffix("remove the link: rm \(link.path)") == true)
        }
    }

    @Test func `a session is never taken for none while a link on the way changes its target`() async throws {
        let (link, disk) = (temporary.url.appendingPathComponent("link"), temporary.url.appendingPathComponent("disk"))
        let folder = link.appendingPathComponent("state/tokens")
        try disk.appendingPathComponent("state").makePrivateFolder()
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: disk)
        try await FileTokenStore(folder: folder).save(.numbered(1))
        let isOver = Locked(false)
        let mover = Thread {
            let away = disk.appendingPathExtension("away").path
            while !isOver.withLock({ $0 }) {
                rename(disk.path, away)
                rename(away, disk.path)
            }
        }
        mover.start()
        var found: Set<String> = []
        for _ in 0..<3_000 {
            // A new store each time: one that has seen the session knows that it cannot be none.
            do {
                found.insert("\(try await FileTokenStore(folder: folder).read().bundle?.generation ?? -1)")
            } catch let error as TokenStoreError {
                found.insert("\(error.code)")
            }
        }
        isOver.withLock { $0 = true }
        #expect(found.isSubset(of: ["1", "unavailable"]), "\(found)")
    }
}
