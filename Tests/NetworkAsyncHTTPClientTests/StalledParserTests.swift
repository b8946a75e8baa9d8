#if AsyncHTTPClient && os(Linux)
import ContractTesting
import Foundation
import TestSupport
import Testing

/// G26: a response that keeps the one thread of URLSession on Linux busy stops no other part of the process. It runs in
/// a process of its own, because URLSession makes no progress there any more.
@Suite(.timeLimit(.minutes(20))) struct StalledParserTests {
    /// What the server sends. Foundation's time to read it grows with the square of its length.
    enum Response: String, CaseIterable, CustomTestStringConvertible {
        case fields = "50,000 header fields"
        case chunks = "a million chunks of one byte"

        var testDescription: String { rawValue }

        func send(over connection: LoopbackConnection, sent: Gate) {
            let (head, part, count) =
                switch self {
                case .fields: ("HTTP/1.1 200 OK\r\n", "X-Field: v\r\n", 50_000)
                case .chunks: ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n", 1_000_000)
                }
            // A process that is slow may have reached its time limit before.
            defer { sent.open() }
            connection.send(head)
            let parts = String(repeating: part, count: 1_000)
            for number in 0..<count / 1_000 {
                guard connection.send(parts) else { return }
                if number == 10 { sent.open() }
            }
            connection.send(self == .fields ? "Content-Length: 0\r\n\r\n" : "0\r\n\r\n")
            connection.waitForClose()
        }
    }

    @Test(arguments: Response.allCases)
    func `other tasks, time limits and transports go on while URLSession is busy`(with response: Response) async throws
    {
        let sent = Gate()
        let server = try LoopbackPeer { connection in
            guard connection.readRequest() != nil else { return }
            response.send(over: connection, sent: sent)
        }
        let other = try LoopbackPeer { while $0.readRequest() != nil { $0.respond() } }
        defer {
            server.stop()
            other.stop()
        }
        let process = try SpawnedProcess(
            SpawnedProcess.peer, ["stalled", server.url.absoluteString, other.url.absoluteString])
        defer { process.kill() }
        try await sent.passUnlessCancelled()
        try process.write("go\n")
        let lines = await process.remainingLines()
        #expect(lines == ["task", "asyncHTTPClient 200", "failed timedOut"])
        #expect(await process.end() == .status(0))
    }
}
#endif
