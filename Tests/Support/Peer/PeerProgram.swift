import Foundation

/// Another process for the tests of several processes: `Peer KIND ARGUMENTS…`.
///
/// | kind | arguments | what it does |
/// |---|---|---|
/// | `storage` | COMMAND FOLDER [NUMBER] | uses a store without an engine, see ``StorageCommand`` |
/// | `contract` | RULE SECONDS | checks a rule of a contract with URLSession, see ``ContractPeer`` |
/// | `call` | asyncHTTPClient\|urlSession URL | sends one request, see ``CallPeer`` |
/// | `stalled` | URL OTHERURL | what runs while a response stalls URLSession, see ``StalledPeer`` |
/// | `fleet` | CONNECTION ACCOUNT GENERATION | an engine over a session in PostgreSQL, see `FleetPeer` |
/// | `killed` | a `KilledPeer` as JSON | begins or ends a session and is killed |
///
/// It reads commands from its standard input and writes results to its standard output, one on each line. `fleet` needs
/// the trait `PostgreSQL`, and `asyncHTTPClient` the trait `AsyncHTTPClient`.
@main
struct PeerProgram {
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst(2))
        switch CommandLine.arguments.dropFirst().first {
        case "storage" where arguments.count >= 2: await StoragePeer.run(arguments)
        case "contract" where arguments.count == 2:
            await ContractPeer.run(rule: arguments[0], timeLimit: .seconds(Int(arguments[1]) ?? 0))
        case "call" where arguments.count == 2: await CallPeer(arguments)?.run() ?? fail()
        case "killed" where arguments.count == 1:
            await (try? JSONDecoder().decode(KilledPeer.self, from: Data(arguments[0].utf8)))?.run() ?? fail()
        case "stalled" where arguments.count == 2: await StalledPeer(arguments)?.run() ?? fail()
        #if PostgreSQL
        case "fleet": await FleetPeer(arguments)?.run() ?? fail()
        #endif
        default: fail()
        }
    }

    private static func fail() {
        let usage = "usage: Peer KIND ARGUMENTS: see PeerProgram; this build lacks the kinds of traits that are off\n"
        FileHandle.standardError.write(Data(usage.utf8))
        exit(2)
    }
}

/// An error that a process writes.
struct PeerError: Error, CustomStringConvertible { let description: String }

/// Lines from and to the test that started this process.
enum StandardIO {
    /// Makes a stream of the lines of the standard input, until it ends.
    static func lines() -> AsyncStream<String> {
        let (lines, line) = AsyncStream.makeStream(of: String.self)
        // A thread of its own: reading blocks.
        Thread.detachNewThread {
            while let text = readLine() { line.yield(text) }
            line.finish()
        }
        return lines
    }

    /// Writes words as one line, at once. A write as short as this to a pipe is atomic.
    static func write(_ words: String...) {
        FileHandle.standardOutput.write(Data((words.joined(separator: " ") + "\n").utf8))
    }
}
