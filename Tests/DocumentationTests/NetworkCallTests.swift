// swift-format-ignore-file: NeverForceUnwrap

import AuthInterface
import AuthTesting
import Foundation
import NetworkCore
import NetworkTesting
import Testing

/// What the samples of the articles of `NetworkCore` do.
@Suite(.timeLimit(.minutes(10))) struct NetworkCallTests {
    private let url = URL(string: "https://api.example.com/v1")!

    private func shown(_ response: StubResponse) async -> Shown {
        let transport = StubTransport(.delete("comments/7") ~> response)
        return await remove(7, over: NetworkClient(baseURL: url, transport: transport))
    }

    @Test func `what is shown of an error depends on its code`() async {
        #expect(await shown(.status(204)) == .nothing)
        #expect(await shown(.status(404)) == .nothing)
        #expect(await shown(.status(410)) == .missing)
        #expect(
            await shown(.failure(.connectionFailed))
                == .alert(
                    "The server could not be reached.", advice: "Check the connection to the internet, and try again."))
        let network = NetworkClient(baseURL: url, transport: StubTransport())
            .authenticated(by: StubSession(.signedOut(.byUser)))
        #expect(await remove(7, over: network) == .nothing)
    }

    @Test(
        .stubs(
            .delete("comments/7") ~> .status(423, headers: ["Retry-After": "0"]), .delete("comments/7") ~> .status(204))
    )
    func `a resource that is locked is asked for again, with the field of the application`() async throws {
        let network = NetworkClient(
            baseURL: url, transport: StubTransport.current, interceptors: [AppVersion(), RetryWhileLocked()])
        try await network.send(.remove(7))
        #expect(StubTransport.current.requests.map { $0.headers["X-App-Version"] } == ["1.0", "1.0"])
    }

    @Test(.stubs(.post("reset/4f3e") ~> .json(["title": "Too old"], status: 422)))
    func `the error of a server is decoded as its own type, and the secret of a path is not shown`() async throws {
        let network = NetworkClient(baseURL: url, transport: StubTransport.current)
        let error = await #expect(throws: NetworkError.self) { try await network.send(.reset("4f3e")) }
        #expect(title(of: try #require(error)) == "Too old")
        #expect(!"\(try #require(error))".contains("4f3e"))
    }
}
