import HandlerTesting
import MODULE
import NetworkCore
import NetworkTesting
import Testing

/// What each call looks like on the wire.
@Suite struct ParcelEndpointTests {
    private let hello = #"{"id":"7","title":"Hello"}"#

    @Test func `the list has a limit`() async throws {
        let transport = StubTransport(.get("parcels") ~> .text("[\(hello)]"))
        let parcels = try await NetworkClient(transport).send(.parcels(limit: 5))
        #expect(parcels == [Parcel(id: "7", title: "Hello")])
        #expect(transport.requests.first?.query == "limit=5")
    }

    @Test func `an identifier is one path segment, with any characters`() async throws {
        let transport = StubTransport(.any ~> .text(hello))
        _ = try await NetworkClient(transport).send(.parcel("a/b?c"))
        #expect(transport.requests.first?.path == "api/v1/parcels/a%2Fb%3Fc")
    }

    @Test func `a creation that is sent twice has one idempotency key`() async throws {
        let transport = StubTransport(.post("parcels") ~> .text(hello), .post("parcels") ~> .text(hello))
        let network = NetworkClient(transport)
        let creation = Endpoint.create(ParcelDraft(title: "Hello"))
        _ = try await network.send(creation)
        _ = try await network.send(creation)
        let keys = transport.requests.map { $0.headers["Idempotency-Key"] }
        #expect(keys[0] != nil && keys[0] == keys[1])
        #expect(transport.requests.first?.json == ["title": "Hello"])
    }

    @Test func `every call needs authentication`() {
        #expect(Endpoint.parcels(limit: 1).settings.requiresAuthentication)
        #expect(Endpoint.parcel("7").settings.requiresAuthentication)
        #expect(Endpoint.create(ParcelDraft(title: "Hello")).settings.requiresAuthentication)
    }
}
