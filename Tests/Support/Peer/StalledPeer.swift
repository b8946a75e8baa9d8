import Foundation
import NetworkCore
import NetworkURLSession

#if AsyncHTTPClient
import NetworkAsyncHTTPClient
#endif

/// Shows what still runs in a process while a response keeps the one thread of URLSession on Linux busy.
///
/// It sends a request to the first server. After a line on its standard input, when a large part of the response has
/// been sent, it starts more requests over URLSession than Swift's tasks have threads, and writes a line for each thing
/// that still happens: `task`, `asyncHTTPClient STATUS`, `failed CODE` of the first request.
struct StalledPeer: Sendable {
    /// More than the warm connections to one host and the threads of Swift's tasks.
    private static let requests = 80
    /// The time limit of the first request: it is reached while its response is read.
    private static let timeLimit: Duration = .seconds(1)

    let stalling: URL
    let other: URL

    /// - Parameter arguments: The URL of the server that stalls, and of another one.
    init?(_ arguments: [String]) {
        guard let stalling = URL(string: arguments[0]), let other = URL(string: arguments[1]) else { return nil }
        (self.stalling, self.other) = (stalling, other)
    }

    func run() async {
        let transport = URLSessionTransport()
        let stalled = Task {
            var request = HTTPTransportRequest(head: HTTPRequestHead(url: stalling), idleTimeout: .seconds(600))
            (request.timeToHead, request.timeToEnd) = (Self.timeLimit, Self.timeLimit)
            do {
                let response = try await transport.perform(request)
                _ = try await response.body.collect(upTo: .max)
                return "responded"
            } catch let error as HTTPTransportError {
                return "failed \(error.code)"
            } catch {
                return "failed \(type(of: error))"
            }
        }
        for await _ in StandardIO.lines().prefix(1) {}
        for number in 0..<Self.requests {
            let head = HTTPRequestHead(method: number % 2 == 0 ? .get : .post, url: other)
            Task { _ = try? await transport.perform(HTTPTransportRequest(head: head)) }
        }
        await Task { for _ in 0..<1_000 { await Task.yield() } }.value
        StandardIO.write("task")
        #if AsyncHTTPClient
        let response = try? await AsyncHTTPClientTransport().perform(
            HTTPTransportRequest(head: HTTPRequestHead(url: other)))
        StandardIO.write("asyncHTTPClient", response.map { "\($0.head.status)" } ?? "failed")
        #endif
        StandardIO.write(await stalled.value)
        // What URLSession is still doing is not waited for.
        _exit(0)
    }
}
