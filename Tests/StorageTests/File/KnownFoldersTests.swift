import AuthInterface
import Foundation
import TestSupport
import Testing

@testable import Storage

@Suite("A folder on another disk is recognized after a restart", .timeLimit(.minutes(10))) struct KnownFoldersTests {
    private let temporary = TemporaryFolder()
    private let folder: URL
    private let state: URL
    private let known: KnownFolders

    init() throws {
        folder = temporary.fresh()
        state = temporary.fresh()
        known = KnownFolders(stateFolder: state.path, isDurable: { _ in true })
        try folder.makePrivateFolder()
    }

    /// The folder, as it would be on another disk.
    private func otherDisk() throws -> PrivateFolder { try .existing(folder, onDevice: 1 << 40) }

    private var note: URL { URL(fileURLWithPath: known.note(of: folder.path)) }

    private func store(_ known: KnownFolders? = nil) -> FileTokenStore {
        FileTokenStore(folder: folder, anchor: nil, known: known ?? self.known)
    }

    @Test func `a folder on another device gets a marker and a note, and is unavailable without the marker`() throws {
        known.record(try otherDisk())
        for file in [note, folder.appendingPathComponent(KnownFolders.markerName)] {
            #expect(try file.permissions == "600")
        }
        #expect(try note.deletingLastPathComponent().permissions == "700")
        let marker = try #require(known.marker(in: try .existing(folder)))
        try known.check(folder.path, marker: marker)
        #expect(known.recognizes(folder.path, marker: marker))
        #expect(!known.recognizes(folder.path, marker: nil))
        #expect(!known.recognizes(folder.path + "/other", marker: marker))

        for marker in [nil, "another"] {
            let error = #expect(throws: TokenStoreError.self) { try known.check(folder.path, marker: marker) }
            #expect(error?.code == .unavailable)
            #expect(error?.reason.contains("mount its disk") == true)
            #expect(error?.reason.hasSuffix("run: rm \(note.path)") == true)
        }
        try FileManager.default.removeItem(at: note)
        try known.check(folder.path, marker: nil)
    }

    @Test func `a second host or state folder adopts the existing marker`() throws {
        known.record(try otherDisk())
        let marker = known.marker(in: try .existing(folder))
        let second = KnownFolders(stateFolder: temporary.fresh().path, isDurable: { _ in true })
        second.record(try otherDisk())
        #expect(known.marker(in: try .existing(folder)) == marker)
        try second.check(folder.path, marker: marker)
        try known.check(folder.path, marker: marker)
    }

    @Test func `a folder on the device of the state folder, or in memory, has no note and no marker`() async throws {
        known.record(try .existing(folder))
        KnownFolders(stateFolder: state.path, isDurable: { _ in false }).record(try otherDisk())
        try await store().save(.numbered(1))
        #expect(try folder.names == ["default.json", "default.json.lock"])
        #expect(!FileManager.default.fileExists(atPath: state.path))
    }

    /// What can be wrong with a note.
    enum Damage: CaseIterable, Sendable {
        case garbled, empty, tooLarge, ofAnotherFolder, openToOthers, aFolder, aLink, inALink, inAFile

        func apply(to note: URL) throws {
            let (manager, folder) = (FileManager.default, note.deletingLastPathComponent())
            switch self {
            case .garbled: try Data("{".utf8).write(to: note)
            case .empty: try Data().write(to: note)
            case .tooLarge: try Data(count: 1 << 20).write(to: note)
            case .ofAnotherFolder:
                var content = try JSONDecoder().decode([String: String].self, from: Data(contentsOf: note))
                content["folder"] = "/"
                try JSONEncoder().encode(content).write(to: note)
            case .openToOthers: try note.setPermissions(0o644)
            case .aFolder:
                try manager.removeItem(at: note)
                try note.makePrivateFolder()
            case .aLink:
                try manager.removeItem(at: note)
                try manager.createSymbolicLink(atPath: note.path, withDestinationPath: "/nowhere")
            case .inALink:
                try manager.removeItem(at: folder)
                try manager.createSymbolicLink(atPath: folder.path, withDestinationPath: "/nowhere")
            case .inAFile:
                try manager.removeItem(at: folder)
                try Data().write(to: folder)
            }
        }
    }

    @Test(arguments: Damage.allCases)
    func `a note that cannot be read makes the folder unavailable, be it there or not`(damage: Damage) async throws {
        known.record(try otherDisk())
        try damage.apply(to: note)
        for isMounted in [true, false] {
            if !isMounted { try FileManager.default.removeItem(at: folder) }
            await store().expectFailures(of: [.load, .save], .unavailable, "run: rm \(note.path)")
        }
    }

    @Test func `G36: a note of a later version is not changed, and its folder counts as unknown`() async throws {
        known.record(try otherDisk())
        var content = try JSONSerialization.jsonObject(with: Data(contentsOf: note)) as? [String: Any] ?? [:]
        content["disk"] = ["label"]
        try JSONSerialization.data(withJSONObject: content).write(to: note)
        try await store().expectRoundTrip(of: .numbered(1))

        let later = Data(#"{"version":2,"folders":[]}"#.utf8)
        try later.write(to: note)
        await store().expectFailures(of: [.load, .save], .unsupportedVersion, "update this program")
        known.record(try otherDisk())
        #expect(try Data(contentsOf: note) == later)
    }

    @Test func `tokens are saved even if the state folder is not writable`() async throws {
        let known = KnownFolders(stateFolder: "/proc/self", isDurable: { _ in true })
        known.record(try otherDisk())
        try await store(known).expectRoundTrip(of: .numbered(1))
    }

    @Test func `a marker that could not be written is written with the next save`() throws {
        let place = folder.appendingPathComponent(KnownFolders.markerName)
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
        #expect(!known.record(try otherDisk()))
        try FileManager.default.removeItem(at: place)
        #expect(known.record(try otherDisk()))
        #expect(FileManager.default.fileExists(atPath: note.path))
    }
}
