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
    /// A home, and the target of a link on the way, if there is one that can be made.
    enum Shape: String, CaseIterable, Sendable {
        case stateLeadsNowhere, localLeadsNowhere, homeLeadsNowhere, applicationLeadsNowhere, chainLeadsNowhere
        case linksToItself, localIsAFile, homeIsAFile, nameIsTooLong
        #if os(Linux)
        case homeIsOfTheKernel
        #endif

        /// Makes the home in a folder.
        ///
        /// - Returns: The home, and the folder that is missing, if a link leads to one.
        func make(in folder: URL, application: String) throws -> (home: String, missing: URL?) {
            let (home, missing) = (folder.appendingPathComponent("home"), folder.appendingPathComponent("missing"))
            let local = home.appendingPathComponent(".local")
            let state = local.appendingPathComponent("state")
            func link(_ link: URL, to target: URL) throws {
                try FileManager.default.createDirectory(
                    at: link.deletingLastPathComponent(), withIntermediateDirectories: true)
                try FileManager.default.createSymbolicLink(at: link, withDestinationURL: target)
            }
            switch self {
            case .stateLeadsNowhere: try link(state, to: missing)
            case .localLeadsNowhere: try link(local, to: missing)
            case .homeLeadsNowhere: try link(home, to: missing)
            case .applicationLeadsNowhere: try link(state.appendingPathComponent(application), to: missing)
            case .chainLeadsNowhere:
                try link(local, to: folder.appendingPathComponent("next"))
                try link(folder.appendingPathComponent("next"), to: missing)
            case .linksToItself:
                try link(local, to: local)
                return (home.path, nil)
            case .localIsAFile:
                try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
                try Data().write(to: local)
                return (home.path, nil)
            case .homeIsAFile: return ("/dev/null", nil)
            case .nameIsTooLong: return (home.path + String(repeating: "n", count: 300), nil)
            #if os(Linux)
            case .homeIsOfTheKernel: return ("/proc/self", nil)
            #endif
            }
            return (home.path, missing)
        }
    }

    private static let calls = ["load", "save", "overwrite", "end", "lease", "delete"]
    private let temporary = TemporaryFolder()

    @Test(arguments: Shape.allCases, [true, false])
    func `the default folder, or one that may have a note there, is unavailable until the missing target is there`(
        shape: Shape, isDefault: Bool
    ) async throws {
        let application = isDefault ? temporary.url.lastPathComponent : "latchkey"
        let (home, missing) = try shape.make(in: temporary.url, application: application)
        let folder = isDefault ? URL(fileURLWithPath: "/" + application) : temporary.fresh()
        let process = try StorageDialogue(folder, home: home, isDefault ? ["STORE": "application"] : [:])
        // Nothing can be stored in /proc, so there is no note in it about a folder of your choice.
        let isKnown = !isDefault && home == "/proc/self"
        if !isKnown { try await process.expectUnavailable(Self.calls) }
        guard isKnown || missing != nil else { return }
        try missing?.makePrivateFolder()
        try await process.expect(["load": "none", "save": "0", "load": "0"])
    }

    @Test(arguments: [false, true])
    func `a folder of your choice behind a link is unavailable while the link leads nowhere`(
        isSignedIn: Bool
    ) async throws {
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
