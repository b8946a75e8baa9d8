import NetworkCore
import NetworkTesting
import Testing

@Suite("StubNetworkService", .timeLimit(.minutes(10)))
struct StubNetworkServiceTests {
    let network = StubNetworkService()

    @Test func `each stub serves one call, in order`() async throws {
        network.on(.number(1), return: 10)
        network.on(.number(2), return: 20)
        network.on(.number(1), return: 11)
        #expect(try await network.send(.number(1)) == 10)
        #expect(try await network.send(.number(1)) == 11)
        #expect(network.leftovers.count == 1)
        #expect(network.calls == ["GET numbers/1", "GET numbers/1"])
        network.removeStubs()
    }

    @Test func `a stub can fail, and a call without a stub fails`() async {
        network.on(.number(1), throw: NetworkError(.timedOut))
        await #expect { _ = try await network.send(.number(1)) } throws: { ($0 as? NetworkError)?.code == .timedOut }
        await withKnownIssue {
            await #expect { _ = try await network.send(.number(1)) } throws: {
                ($0 as? NetworkError)?.code == .unstubbed
            }
        } matching: {
            "\($0)".contains("unexpected call GET numbers/1 as Int; remaining stubs: none")
        }
    }

    @Test func `a stub matches the query and the response type`() async throws {
        network.on(.number(1), return: 10)
        let text = Endpoint<String>.get("numbers/\(1)")
        let other = Endpoint<Int>.get("numbers/\(1)", query: ["page": 2])
        await withKnownIssue {
            await #expect(throws: NetworkError.self) { _ = try await network.send(text) }
            await #expect(throws: NetworkError.self) { _ = try await network.send(other) }
        } matching: {
            "\($0)".contains("remaining stubs: GET numbers/1 as Int")
        }
        #expect(network.leftovers.count == 1)
        network.removeStubs()
    }

    @Test func `the endpoints that were sent are recorded`() async throws {
        let logout = Endpoint<Void>.post("logout", json: true).withoutAuthentication()
        network.on(logout, return: ())
        try await network.send(logout)
        #expect(network.calls(returning: Void.self).map(\.settings.requiresAuthentication) == [false])
        #expect(network.calls(returning: Int.self).isEmpty)
    }

    @Test func `a stub serves the value with its head, and the value alone`() async throws {
        for _ in 0..<2 { network.on(.number(1), return: 10, headers: ["ETag": "a"]) }
        let response = try await network.response(to: .number(1))
        #expect(response.value == 10 && response.status == 200 && response.headers["ETag"] == "a")
        #expect(try await network.send(.number(1)) == 10)
        #expect(network.calls == ["GET numbers/1", "GET numbers/1"] && network.leftovers.isEmpty)
        network.on(.number(1), throw: NetworkError(.timedOut))
        await #expect(throws: NetworkError.self) { _ = try await network.response(to: .number(1)) }
    }
}

extension Endpoint where Response == Int {
    fileprivate static func number(_ number: Int) -> Self { .get("numbers/\(number)") }
}
