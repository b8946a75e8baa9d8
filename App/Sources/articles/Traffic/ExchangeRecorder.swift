import Foundation
import NIOConcurrencyHelpers
import NetworkCore
import NetworkRecording

/// Records the exchanges of all calls, with the call and the attempt that each belongs to.
final class ExchangeRecorder: Sendable {
    struct Exchange: Hashable {
        let call: UUID
        let attempt: Int
        let entry: HTTPArchive.Entry
    }

    /// The most exchanges that are kept: the first ones.
    static let limit = 5_000

    static let maximumBodySize = 64 * 1_024

    private struct State {
        var records: [(call: UUID, attempt: Int, recorder: HARRecorder)] = []
        var omitted = 0
        var underWay: [UUID: Task<HTTPTransportResponse, any Error>] = [:]
    }

    private let state = NIOLockedValueBox(State())

    /// The exchanges so far, in the order of their start. One that is under way is left out.
    var exchanges: [Exchange] {
        state.withLockedValue(\.records).compactMap { record in
            record.recorder.archive.log.entries.first.map {
                Exchange(call: record.call, attempt: record.attempt, entry: $0)
            }
        }
    }

    var omitted: Int { state.withLockedValue(\.omitted) }

    /// Cancels what is under way, so that it is recorded.
    func cancelAll() async {
        let tasks = state.withLockedValue { Array($0.underWay.values) }
        for task in tasks { task.cancel() }
        for task in tasks { _ = await task.result }
    }

    func around(_ next: any HTTPTransport) -> any HTTPTransport { Transport(next: next, recorder: self) }

    private struct Transport: HTTPTransport {
        let next: any HTTPTransport
        let recorder: ExchangeRecorder

        func perform(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
            // One archive for each exchange: an entry does not name its call.
            let archive = HARRecorder(next, maximumEntries: 1, maximumBodySize: maximumBodySize)
            let isKept = recorder.state.withLockedValue { state in
                guard state.records.count < limit else {
                    state.omitted += 1
                    return false
                }
                state.records.append((request.context.id, request.context.attempt, archive))
                return true
            }
            guard isKept else { return try await next.perform(request) }
            let (id, task) = (UUID(), Task { try await archive.perform(request) })
            recorder.state.withLockedValue { $0.underWay[id] = task }
            defer { recorder.state.withLockedValue { _ = $0.underWay.removeValue(forKey: id) } }
            return try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        }
    }
}
