import NetworkCore
import NetworkTesting
import Testing

@Suite("StubNetworkService")
struct StubNetworkServiceTests {
    let network = StubNetworkService()

    @Test func answersEachStubOnceInOrder() async throws {
        network.on(.number(1), return: 10)
        network.on(.number(2), return: 20)
        network.on(.number(1), return: 11)
        #expect(try await network.send(.number(1)) == 10)
        #expect(try await network.send(.number(1)) == 11)
        #expect(network.leftoverCount == 1)
        #expect(network.log == ["GET numbers/1", "GET numbers/1"])
    }

    @Test func failsAsToldAndWhereItWasToldNothing() async {
        network.on(.number(1), throw: NetworkError(.timedOut))
        await #expect { _ = try await network.send(.number(1)) } throws: { ($0 as? NetworkError)?.code == .timedOut }
        await #expect { _ = try await network.send(.number(1)) } throws: { ($0 as? NetworkError)?.code == .unstubbed }
    }

    @Test func tellsEndpointsApartByQueryAndByWhatTheyAreReadAs() async throws {
        network.on(.number(1), return: 10)
        let text = Endpoint<String>.get("numbers/\(1)")
        let other = Endpoint<Int>.get("numbers/\(1)", query: ["page": 2])
        await #expect(throws: NetworkError.self) { _ = try await network.send(text) }
        await #expect(throws: NetworkError.self) { _ = try await network.send(other) }
        #expect(network.leftoverCount == 1)
    }

    @Test func keepsTheEndpointsThatWereSent() async throws {
        let logout = Endpoint<Void>.post("logout", json: true).withoutAuthentication()
        network.on(logout, return: ())
        try await network.send(logout)
        #expect(network.sent(Void.self).map(\.requiresAuthentication) == [false])
        #expect(network.sent(Int.self).isEmpty)
    }

    @Test func canBeGivenToARefreshHandler() {
        #expect((network as any NetworkService) is any UnauthenticatedNetworkService)
    }
}

extension Endpoint where Response == Int {
    fileprivate static func number(_ number: Int) -> Self { .get("numbers/\(number)") }
}
