import DevBackend
import Foundation
import Testing

@Suite(.untilStuck) struct GateTests {
    @Test func aGateHoldsARequestBeforeItsHandler() async throws {
        try await DevBackend.withServer { backend in
            let client = TestClient(backend)
            let signedIn = try await client.signIn()
            let gate = backend.hold("POST", "/auth/refresh")
            async let answer = client.refresh(signedIn.refreshToken)
            await gate.arrivals(1)
            #expect(gate.heldCount == 1)
            #expect(backend.statistics.refreshes == .init(received: 1))
            #expect(backend.statistics.inProgress == 1)
            gate.open()
            #expect(try await answer.status == 200)
            #expect(backend.statistics.refreshes == .init(received: 1, committed: 1))
        }
    }

    @Test func aGateHoldsAnAnswerThatIsAlreadyCommitted() async throws {
        try await DevBackend.withServer { backend in
            let client = TestClient(backend)
            let signedIn = try await client.signIn()
            let gate = backend.hold("POST", "/auth/refresh", at: .beforeResponse)
            async let answer = client.refresh(signedIn.refreshToken)
            await gate.arrivals(1)
            #expect(backend.statistics.refreshes == .init(received: 1, committed: 1))
            #expect(backend.journal.last?.completedAt == nil)
            gate.open()
            #expect(try await answer.status == 200)
        }
    }

    @Test func aGateLetsThroughAsManyAsItIsToldInTheirOrder() async throws {
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
                #expect(gate.heldCount == 3)
                let quick = try await TestClient(backend).get("/quick")
                #expect(quick.status == 404)
                for _ in 1...3 {
                    gate.release()
                    finished.append(try await group.next().required("an answer"))
                }
                #expect(finished == [1, 2, 3])
            }
            #expect(gate.heldCount == 0)
        }
    }

    @Test func anOpenGateHoldsNobodyAndStillCounts() async throws {
        try await DevBackend.withServer { backend in
            let gate = backend.hold("GET", "/nowhere")
            gate.open()
            let answer = try await TestClient(backend).get("/nowhere")
            #expect(answer.status == 404)
            await gate.arrivals(1)
        }
    }

    @Test func waitingForArrivalsEndsWithTheTaskThatWaits() async throws {
        try await DevBackend.withServer { backend in
            let gate = backend.hold("GET", "/nowhere")
            let waiting = Task { await gate.arrivals(1) }
            waiting.cancel()
            await waiting.value
        }
    }
}
