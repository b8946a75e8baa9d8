import Foundation
import NetworkCore

#if AsyncHTTPClient
import NetworkAsyncHTTPClient
#endif

/// Sends one request, in a process that a test stops meanwhile.
///
/// It writes `head STATUS`, then `body TEXT`; or `failed CODE`.
struct CallPeer: Sendable {
    let transport: any HTTPTransport
    let request: HTTPTransportRequest

    /// - Parameter arguments: The transport, the URL, and the idle timeout and time to the head in seconds.
    init?(_ arguments: [String]) {
        guard let url = URL(string: arguments[1]), let seconds = Int(arguments[2]) else { return nil }
        switch arguments[0] {
        case "urlSession": transport = URLSessionTransport()
        #if AsyncHTTPClient
        case "asyncHTTPClient": transport = AsyncHTTPClientTransport()
        #endif
        default: return nil
        }
        request = HTTPTransportRequest(
            head: HTTPRequestHead(url: url), idleTimeout: .seconds(seconds), timeToHead: .seconds(seconds),
            isIdempotent: true)
    }

    func run() async {
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
