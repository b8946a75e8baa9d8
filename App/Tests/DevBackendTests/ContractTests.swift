import Foundation
import HTTPTypes
import Testing

@testable import DevBackend

/// `GET /openapi.json`, compared with the routes. What the bodies are is checked in ``ConformanceTests``.
@Suite(.hangLimit) struct ContractTests {
    @Test(.server) func `the server sends the document without a sign-in`() async throws {
        let response = try await client.get("/openapi.json")
        #expect(response.status == 200)
        #expect(response.header("Content-Type") == "application/json")
        #expect(response.member("openapi") == "3.1.0")
        #expect(try Contract(response.data).statuses == Contract().statuses)
    }

    @Test func `the document names each route but those of dev, and no other`() async throws {
        var configuration = DevBackend.Configuration()
        configuration.allowsDevEndpoints = true
        let routes = try await BackendServices(configuration).pipeline.routes.routes
        let names = routes.filter { !$0.path.hasPrefix("/dev/") }.map { "\($0.method.rawValue) \($0.fullPath)" }
        #expect(try Set(Contract().statuses.keys) == Set(names))
    }

    @Test(.server) func `each status that the document names can be had, and no other is seen`() async throws {
        let call = Calls(backend)
        let ada = try await call.signIn()
        let guest = try await call.articles(ada)
        try await call.signIns(guest)
        try await call.oauth2()
        let documented = try Contract().statuses.mapValues { $0.subtracting([413]) }
        let observed = backend.observedStatuses
        for (operation, statuses) in documented {
            #expect(observed[operation] == statuses, "\(operation)")
        }
        #expect(Set(observed.keys) == Set(documented.keys))
    }

    @Test(.server { ($0.limits.bodyBytes, $0.limits.imageBytes) = (10, 10) })
    func `each operation says what becomes of a body that is too large`() async throws {
        let contract = try Contract()
        for operation in contract.operationsWithBody {
            try await Calls(backend).body(of: operation)
            #expect(backend.observedStatuses[operation]?.contains(413) == true, "\(operation)")
            #expect(contract.statuses[operation]?.contains(413) == true, "\(operation)")
        }
    }
}
