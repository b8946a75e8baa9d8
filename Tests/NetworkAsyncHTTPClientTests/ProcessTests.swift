#if AsyncHTTPClient && os(Linux)
import ContractTesting
import Foundation
import TestSupport
import Testing

/// Calls in a process of their own, which is stopped, kept busy, or has a proxy in its environment.
@Suite(.timeLimit(.minutes(20))) struct ProcessTests {
    @Test(arguments: ["asyncHTTPClient", "urlSession"], [false, true])
    func `a response that arrived while the process was stopped is delivered`(over transport: String, afterHead: Bool)
        async throws
    {
        let (arrived, responded, stopped) = (Gate(), Gate(), DispatchSemaphore(value: 0))
        let server = try LoopbackPeer { connection in
            guard connection.readRequest() != nil else { return }
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n"
            if afterHead { connection.send(head) }
            arrived.open()
            stopped.wait()
            connection.send((afterHead ? "" : head) + "response")
            responded.open()
            connection.waitForClose()
        }
        defer {
            stopped.signal()
            server.stop()
        }
        let process = try SpawnedProcess(SpawnedProcess.peer, ["call", transport, server.url.absoluteString])
        try await arrived.passUnlessCancelled()
        var lines = process.lines.makeAsyncIterator()
        if afterHead { #expect(await lines.next() == "head 200") }
        process.stop()
        stopped.signal()
        try await responded.passUnlessCancelled()
        // Its clock is an hour ahead then.
        process.kill(SIGCONT)
        if !afterHead { #expect(await lines.next() == "head 200") }
        #expect(await lines.next() == "body response")
        #expect(await process.end() == .status(0))
    }

    /// LE1, G16: the transport that obeys the environment refuses, and the other one reaches the server itself.
    @Test(arguments: [("urlSession", "failed cleartextRefused"), ("asyncHTTPClient", "head 200")])
    func `a proxy of the environment sees no request without encryption`(transport: String, line: String) async throws {
        let (proxy, server) = (try LoopbackServer { _ in .json("{}") }, try LoopbackServer { _ in .json("{}") })
        defer {
            proxy.stop()
            server.stop()
        }
        var environment = ProcessInfo.processInfo.environment
        for name in ["http_proxy", "all_proxy"] { environment[name] = proxy.url.absoluteString }
        for name in ["no_proxy", "NO_PROXY"] { environment[name] = nil }
        let process = try SpawnedProcess(
            SpawnedProcess.peer, ["call", transport, server.url.absoluteString], environment: environment)
        var lines = process.lines.makeAsyncIterator()
        #expect(await lines.next() == line)
        #expect(await process.end() == .status(0))
        #expect(proxy.requests.isEmpty)
    }

    /// What keeps the one thread of URLSession on Linux busy: a head, a part that is repeated a thousand times, and the
    /// end. Foundation's time to read it grows with the square of its length.
    @Test(arguments: [
        ("", "X-Field: v\r\n", 50, "Content-Length: 0\r\n\r\n"),
        ("Transfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n", 1_000, "0\r\n\r\n"),
    ])
    func `G26: other tasks, time limits and transports go on while URLSession is busy`(
        head: String, part: String, thousands: Int, end: String
    ) async throws {
        let sent = Gate()
        let server = try LoopbackPeer { connection in
            guard connection.readRequest() != nil else { return }
            // A process that is slow may have reached its time limit before.
            defer { sent.open() }
            connection.send("HTTP/1.1 200 OK\r\n" + head)
            let parts = String(repeating: part, count: 1_000)
            for number in 0..<thousands {
                guard connection.send(parts) else { return }
                if number == 10 { sent.open() }
            }
            connection.send(end)
            connection.waitForClose()
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
