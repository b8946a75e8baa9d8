import Foundation
import NetworkCore
import NetworkTesting
import Testing

@testable import MODULE

/// What each call looks like on the wire.
@Suite struct ParcelEndpointTests {
    private let hello = StubResponse.json(["id": "7", "title": "Hello"])

    private func client(_ transport: StubTransport) throws -> NetworkClient {
        NetworkClient(baseURL: try #require(URL(string: "https://api.example.com/v1")), transport: transport)
    }

    @Test func `the list has a limit`() async throws {
        let transport = StubTransport(.get("parcels") ~> .json([["id": "7", "title": "Hello"]]))
        let parcels = try await client(transport).send(.parcels(limit: 5))
        #expect(parcels == [Parcel(id: "7", title: "Hello")])
        #expect(transport.requests.first?.query == "limit=5")
    }

    @Test func `an identifier is one path segment, with any characters`() async throws {
        let transport = StubTransport(.any ~> hello)
        _ = try await client(transport).send(.parcel("a/b?c"))
        #expect(transport.requests.first?.path == "v1/parcels/a%2Fb%3Fc")
    }

    @Test func `a creation that is sent twice has one idempotency key`() async throws {
        let transport = StubTransport(.post("parcels") ~> hello, .post("parcels") ~> hello)
        let network = try client(transport)
        let creation = Endpoint.create(ParcelDraft(title: "Hello"))
        _ = try await network.send(creation)
        _ = try await network.send(creation)
        let keys = transport.requests.map { $0.headers["Idempotency-Key"] }
        #expect(keys[0] != nil && keys[0] == keys[1])
        let body = try #require(transport.requests.first?.body)
        #expect(try JSONDecoder().decode([String: String].self, from: body) == ["title": "Hello"])
    }

    @Test func `every call needs authentication`() {
        #expect(Endpoint.parcels(limit: 1).settings.requiresAuthentication)
        #expect(Endpoint.parcel("7").settings.requiresAuthentication)
        #expect(Endpoint.create(ParcelDraft(title: "Hello")).settings.requiresAuthentication)
    }
}
