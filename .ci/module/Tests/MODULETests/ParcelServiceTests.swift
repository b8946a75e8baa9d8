import NetworkCore
import NetworkTesting
import Testing

@testable import MODULE

@Suite struct ParcelServiceTests {
    private let hello = Parcel(id: "7", title: "Hello")

    @Test func `over the network each call is one request`() async throws {
        let network = StubNetworkService()
        let draft = ParcelDraft(title: "Hello")
        network.on(.parcels(limit: 5), return: [hello])
        network.on(.parcel("7"), return: hello)
        network.on(.create(draft), return: hello)
        let service = NetworkParcelService(network: network)
        let parcels = try await service.parcels(limit: 5)
        #expect(parcels == [hello])
        #expect(try await service.parcel("7") == hello)
        #expect(try await service.create(draft) == hello)
    }

    @Test func `in memory, what was created last is first in the list`() async throws {
        let service = MemoryParcelService([Parcel(id: "1", title: "First")])
        let created = try await service.create(ParcelDraft(title: "Hello"))
        #expect(created.id != "1")
        #expect(try await service.parcels(limit: 10).map(\.title) == ["Hello", "First"])
        #expect(try await service.parcels(limit: 1) == [created])
        #expect(try await service.parcel(created.id) == created)
    }

    @Test func `in memory, an identifier that is not known has status 404`() async {
        let error = await #expect(throws: NetworkError.self) { try await MemoryParcelService().parcel("7") }
        #expect(error?.status == 404)
    }

    @Test func `in memory, a failure is the error of every call`() async {
        let service = MemoryParcelService([hello], failure: NetworkError(.connectionFailed))
        let calls: [@Sendable () async throws -> Void] = [
            { _ = try await service.parcels(limit: 1) }, { _ = try await service.parcel("7") },
            { try await service.create(ParcelDraft(title: "Hello")) },
        ]
        for call in calls {
            let error = await #expect(throws: NetworkError.self) { try await call() }
            #expect(error?.code == .connectionFailed)
        }
    }
}
