#if AsyncHTTPClient && os(Linux)
import ContractTesting
import Foundation
import TestSupport
import Testing

/// G8: a process that is stopped for longer than its time limits, while the server responds.
@Suite(.timeLimit(.minutes(20))) struct StoppedProcessTests {
    @Test(arguments: ["asyncHTTPClient", "urlSession"], [false, true])
    func `a response that arrived while the process was stopped is delivered`(over transport: String, afterHead: Bool)
        async throws
    {
        let arrived = Gate()
        let responded = Gate()
        let stopped = DispatchSemaphore(value: 0)
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
    @Test(arguments: ["urlSession", "asyncHTTPClient"])
    func `a proxy of the environment sees no request without encryption`(transport: String) async throws {
        let proxy = try LoopbackServer { _ in .json("{}") }
        let server = try LoopbackServer { _ in .json("{}") }
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
        #if canImport(FoundationNetworking)
        let expected = transport == "urlSession" ? "failed cleartextRefused" : "head 200"
        #else
        let expected = "head 200"
        #endif
        #expect(await lines.next() == expected)
        #expect(await process.end() == .status(0))
        #expect(proxy.requests.isEmpty)
    }
}
#endif
