import ContractTesting
import Foundation
import NetworkCore
import NetworkURLSession

#if AsyncHTTPClient
import NetworkAsyncHTTPClient
#endif

/// Sends one request, in a process that a test stops meanwhile.
///
/// Its clock stands still until the process continues after a stop, and is an hour ahead then: no busy machine reaches
/// a time limit before the stop, and all of them are overdue after it.
///
/// It writes `head STATUS`, then `body TEXT`; or `failed CODE`.
struct CallPeer: Sendable {
    private static let limit: Duration = .seconds(60)
    private static let sleep: Duration = .seconds(60 * 60)

    let transport: any HTTPTransport
    let request: HTTPTransportRequest
    private let clock = ManualTimeSource()

    /// - Parameter arguments: The transport and the URL.
    init?(_ arguments: [String]) {
        guard let url = URL(string: arguments[1]) else { return nil }
        switch arguments[0] {
        case "urlSession": transport = URLSessionTransport(clock: clock)
        #if AsyncHTTPClient
        case "asyncHTTPClient": transport = AsyncHTTPClientTransport(clock: clock)
        #endif
        default: return nil
        }
        request = HTTPTransportRequest(
            head: HTTPRequestHead(url: url), idleTimeout: Self.limit, timeToHead: Self.limit, timeToEnd: Self.limit)
    }

    func run() async {
        Continuations.onContinue { clock.advance(by: Self.sleep) }
        do {
            let response = try await transport.perform(request)
            StandardIO.write("head", "\(response.head.status)")
            let body = try await response.body.collect(upTo: 1_000)
            StandardIO.write("body", String(decoding: body, as: UTF8.self))
        } catch let error as HTTPTransportError {
            StandardIO.write("failed", error.code.rawValue)
        } catch {
            StandardIO.write("failed", "\(type(of: error))")
        }
    }
}

/// Calls a closure each time that this process continues after a stop.
private enum Continuations {
    /// The descriptor that the signal handler writes to: a handler may do little else.
    nonisolated(unsafe) private static var pipe: Int32 = -1  // set once, before the handler is

    static func onContinue(_ action: @escaping @Sendable () -> Void) {
        var ends: [Int32] = [-1, -1]
        guard Foundation.pipe(&ends) == 0 else { return }
        pipe = ends[1]
        signal(SIGCONT) { _ in
            var byte: UInt8 = 1
            _ = write(Continuations.pipe, &byte, 1)
        }
        // A thread of its own: reading blocks.
        Thread.detachNewThread { [end = ends[0]] in
            var byte: UInt8 = 0
            while true {
                let count = read(end, &byte, 1)
                if count == 1 { action() } else if count == 0 || errno != EINTR { return }
            }
        }
    }
}
