import AsyncHTTPClient
public import Foundation
public import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import ServiceLifecycle

/// Serves a router on a free port of loopback as long as a test runs, which gets the URL: `http://127.0.0.1:49152`.
///
/// - Throws: What the test throws; ``NoServer``.
public func serving<Value>(
    _ router: Router<BasicRequestContext>, _ test: (URL) async throws -> Value
) async throws -> Value {
    let (ports, started) = AsyncStream.makeStream(of: Int.self)
    let logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
    let application = Application(
        router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
        onServerRunning: { started.yield($0.localAddress?.port ?? 0) }, logger: logger)
    let services = ServiceGroup(configuration: ServiceGroupConfiguration(services: [application], logger: logger))
    return try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
            defer { started.finish() }
            try await services.run()
        }
        let port = await ports.first { _ in true }
        guard let port, let url = URL(string: "http://127.0.0.1:\(port)") else { throw NoServer() }
        let result: Result<Value, any Error>
        do { result = .success(try await test(url)) } catch { result = .failure(error) }
        await services.triggerGracefulShutdown()
        return try result.get()
    }
}

/// The server did not start.
public struct NoServer: Error {}

/// Fetches a page as a program without a token does, with a user in the field `From`.
public func fetch(_ url: URL, from user: String = "ada") async throws -> (status: Int, text: String) {
    var request = HTTPClientRequest(url: url.absoluteString)
    request.headers.add(name: "From", value: user)
    let response = try await HTTPClient.shared.execute(request, timeout: .seconds(3_600))
    return (Int(response.status.code), String(buffer: try await response.body.collect(upTo: 65_536)))
}
