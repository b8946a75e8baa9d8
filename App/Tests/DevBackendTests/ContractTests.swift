import Foundation
import HTTPTypes
import Testing

@testable import DevBackend

/// `GET /openapi.json`, compared with the routes. What the bodies are is checked in ``ConformanceTests``.
@Suite(.hangLimit) struct ContractTests {
    /// The statuses of any body that is not read to its end.
    private static let ofBodies: Set = [408, 413, 503]

    @Test func `the server sends the document without a sign-in`() async throws {
        try await DevBackend.withServer { backend in
            let response = try await TestClient(backend).get("/openapi.json")
            #expect(response.status == 200)
            #expect(response.header("Content-Type") == "application/json")
            #expect(response.member("openapi") == "3.1.0")
            #expect(try Contract(response.data).statuses == Contract().statuses)
        }
    }

    @Test func `the document names each route but those of dev, and no other`() async throws {
        var configuration = DevBackend.Configuration()
        configuration.allowsDevEndpoints = true
        let routes = try await BackendServices(configuration).pipeline.routes.routes
        let names = routes.filter { !$0.path.hasPrefix("/dev/") }.map { "\($0.method.rawValue) \($0.fullPath)" }
        #expect(try Set(Contract().statuses.keys) == Set(names))
    }

    @Test func `each status that the document names can be had, and no other is seen`() async throws {
        try await DevBackend.withServer { backend in
            let call = Calls(backend)
            let ada = try await call.signIn()
            let guest = try await call.articles(ada)
            try await call.signIns(guest)
            try await call.oauth2()
            let documented = try Contract().statuses.mapValues { $0.subtracting(Self.ofBodies) }
            let observed = backend.observedStatuses
            for (operation, statuses) in documented {
                #expect(observed[operation] == statuses, "\(operation)")
            }
            #expect(Set(observed.keys) == Set(documented.keys))
        }
    }

    @Test func `each operation says what becomes of a body that is late, too large or has no room`() async throws {
        var (slow, small, full) = (DevBackend.Configuration(), DevBackend.Configuration(), DevBackend.Configuration())
        slow.limits.bodyIdleTimeout = .milliseconds(1)
        (small.limits.bodyBytes, small.limits.imageBytes, small.limits.multipartOverheadBytes) = (10, 10, 0)
        (full.limits.bufferedBodyBytes, full.limits.uploadBytes) = (0, 0)
        let contract = try Contract()
        let operations = contract.operationsWithBody
        for (configuration, status, length) in [(slow, 408, 1_000), (small, 413, 60), (full, 503, 60)] {
            try await DevBackend.withServer(configuration) { backend in
                let call = Calls(backend)
                for operation in operations {
                    try await call.body(of: operation, declaring: status == 408 ? length : nil)
                }
                for operation in operations {
                    #expect(backend.observedStatuses[operation]?.contains(status) == true, "\(operation) \(status)")
                    #expect(contract.statuses[operation]?.contains(status) == true, "\(operation) \(status)")
                }
            }
        }
    }
}
