import DevBackend
import Foundation
import Testing

@Suite(.hangLimit) struct GateTests {
    @Test(arguments: [(Gate.Position.beforeHandler, 0), (.beforeResponse, 1)])
    func `a gate holds a request before its handler, or its response after the commit`(
        position: Gate.Position, committed: Int
    ) async throws {
        try await TestClient.withGuest { backend, client, signedIn async throws in
            let gate = backend.hold("POST", "/auth/refresh", at: position)
            async let response = client.refresh(signedIn.refreshToken)
            await gate.arrivals(1)
            #expect(backend.statistics.refreshes == .init(received: 1, committed: committed))
            if committed == 1 { #expect(backend.journal.last?.status == nil) }
            gate.open()
            #expect(try await response.status == 200)
            #expect(backend.statistics.refreshes == .init(received: 1, committed: 1))
        }
    }

    @Test func `a gate releases requests one at a time, in their order`() async throws {
        try await DevBackend.withServer { backend in
            let gate = backend.hold(nil, "/slow/*")
            try await withThrowingTaskGroup(of: Int.self) { group in
                var finished: [Int] = []
                for number in 1...3 {
                    group.addTask {
                        _ = try await TestClient(backend).get("/slow/\(number)")
                        return number
                    }
                    await gate.arrivals(number)
                }
                let quick = try await TestClient(backend).get("/quick")
                #expect(quick.status == 404)
                for _ in 1...3 {
                    gate.release()
                    finished.append(try await group.next().required("a response"))
                }
                #expect(finished == [1, 2, 3])
            }
        }
    }
}
