import Foundation
import NetworkCore
import ProgramTesting

/// The running servers of the strict profile, and a session there.
struct StrictProfile: Sendable {
    private let process: ProviderProcess
    private let folder: TemporaryFolder
    private let transport: Transport
    let session: BoundSession

    /// Starts the servers, and signs a user in.
    init(_ options: RunCommand, in folder: TemporaryFolder, over transport: Transport) async throws {
        guard let script = options.strictProvider else {
            throw ProviderProcess.Failure("S27 needs --strict-provider: App/Tests/Endurance/provider/start-strict")
        }
        process = try await ProviderProcess(
            script,
            [
                "--access-lifetime", "\(RunCommand.accessLifetime)", "--nonce-lifetime", "\(BoundRun.nonceLifetime)",
                "--cut-every", "\(Self.cutEvery)", "--repeats-by-key", "--delay", "0.3",
            ], isStrict: true)
        (self.folder, self.transport) = (folder, transport)
        session = BoundSession(
            issuer: process.issuer, resourceServer: process.resourceServer, client: process.client,
            clientKey: process.key, folder: folder.tokens, keys: Self.disk(in: folder).appendingPathComponent("keys"),
            transport: transport.made)
        try FileManager.default.createDirectory(
            at: Self.disk(in: folder), withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        do {
            try await session.signIn()
        } catch {
            process.stop()
            throw error
        }
    }

    /// Each request of this number loses its connection in place of a response.
    private static let cutEvery = 50

    /// A folder that stands for a disk, on which the key is.
    private static func disk(in folder: TemporaryFolder) -> URL { folder.url.appendingPathComponent("disk") }

    func stop() { process.stop() }

    func peer() async throws -> PeerProcess {
        try await PeerProcess(
            of: process.issuer, kind: .strict, in: folder, rate: RunCommand.rate / 3, secret: process.key,
            options: [
                "--client", process.client, "--resource-server", process.resourceServer.absoluteString,
                "--keys", session.keys.path, "--transport", transport.rawValue,
            ])
    }

    func counters() async throws -> Counters {
        try await Counters("counters", of: process.issuer, over: session.transport)
    }

    /// How the key cannot be read for a while.
    enum KeyLoss: String, CaseIterable {
        /// Its file has a mode with which it is refused.
        case mode = "its mode lets others read it"
        /// The folder above it is gone.
        case disk = "its disk is away"
    }

    func takeKeyAway(_ loss: KeyLoss) throws {
        switch loss {
        case .mode: try setModeOfKeys(0o644)
        case .disk: try FileManager.default.moveItem(at: disk, to: away)
        }
    }

    func bringKeyBack(_ loss: KeyLoss) throws {
        switch loss {
        case .mode: try setModeOfKeys(0o600)
        case .disk: try FileManager.default.moveItem(at: away, to: disk)
        }
    }

    private var disk: URL { Self.disk(in: folder) }
    private var away: URL { disk.appendingPathExtension("away") }

    private func setModeOfKeys(_ mode: Int) throws {
        for file in try session.keyFiles() {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
        }
    }
}
