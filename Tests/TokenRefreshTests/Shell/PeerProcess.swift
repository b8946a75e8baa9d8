import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import ContractTesting
import Foundation
import Storage
import TestSupport

/// A rotating server in this process, and the processes that share a stored session and refresh with it.
final class PeerHost: Sendable {
    let server: RotatingTokenServer
    /// Refreshes wait here before they reach the server.
    let callGate: Gate
    /// Responses wait here after the server has rotated.
    let responseGate = Gate(isOpen: true)
    private let temporary: TemporaryFolder
    let folder: URL

    init(isOpen: Bool = true, hasGraceWindow: Bool = false) async throws {
        server = RotatingTokenServer(tolerating: hasGraceWindow ? .within(.seconds(10)) : .none)
        callGate = Gate(isOpen: isOpen)
        temporary = TemporaryFolder()
        folder = temporary.fresh()
        try await FileTokenStore(folder: folder).save(.fixture())
    }

    /// What is stored.
    func stored() async throws -> TokenBundle? {
        try await FileTokenStore(folder: folder).load()
    }

    /// Starts processes and lets each read the stored session.
    func start(_ count: Int) async throws -> [PeerProcess] {
        var peers: [PeerProcess] = []
        for _ in 0..<count { peers.append(try PeerProcess(folder: folder, host: self)) }
        for peer in peers { peer.tell("token") }
        return peers
    }

    /// What the server says to a process; `nil` if the process was killed before its request got here.
    func respond(_ refreshToken: String, of peer: PeerProcess) async -> String? {
        await callGate.pass()
        if peer.isKilled { return nil }
        let line: String
        do {
            let result = try server.refresh(refreshToken)
            line = "tokens \(result.accessToken) \(result.refreshToken ?? "")"
        } catch {
            line = "rejected"
        }
        await responseGate.pass()
        return line
    }
}

/// A process with an engine of its own.
final class PeerProcess: Sendable {
    private struct State {
        var said: [String] = []
        var isKilled = false
        var watchers: [(prefix: String, line: Race<String>)] = []
    }

    private let process: SpawnedProcess
    private let state = Locked(State())

    init(folder: URL, host: PeerHost) throws {
        process = try SpawnedProcess(
            SpawnedProcess.peer,
            ["refresh", folder.path],
            environment: ProcessInfo.processInfo.environment
        )
        Task { [weak self, weak host, lines = process.lines] in
            for await line in lines { self?.heard(line, host) }
        }
    }

    deinit { process.kill(SIGTERM) }

    /// Sends a command to the process.
    func tell(_ line: String) {
        try? process.write("\(line)\n")
    }

    /// What the process said that begins with a word, the oldest first; waits for it.
    func said(_ word: String) async -> String {
        let line = Race<String>()
        state.withLock { state in
            if let index = state.said.firstIndex(where: { $0.hasPrefix(word) }) {
                line.end(state.said.remove(at: index))
            } else {
                state.watchers.append((word, line))
            }
        }
        return await line.value()
    }

    /// Whether the process has printed a line that no test has read yet.
    func hasSaid(_ line: String) -> Bool {
        state.withLock { $0.said.contains(line) }
    }

    /// Ends the process as the system does: at once, without a notice.
    func kill() async {
        state.withLock { $0.isKilled = true }
        process.kill()
        _ = await process.end()
    }

    var isKilled: Bool { state.withLock { $0.isKilled } }

    /// Lets the process end by itself.
    func exit() async {
        tell("exit")
        _ = await process.end()
    }

    private func heard(_ line: String, _ host: PeerHost?) {
        if line.hasPrefix("refresh "), let host {
            Task {
                if let response = await host.respond(String(line.dropFirst(8)), of: self) { tell(response) }
            }
        }
        let watcher = state.withLock { state in
            guard let index = state.watchers.firstIndex(where: { line.hasPrefix($0.prefix) }) else {
                state.said.append(line)
                return nil as Race<String>?
            }
            return state.watchers.remove(at: index).line
        }
        watcher?.end(line)
    }
}
