import AuthInterface
import ConcurrencyPrimitives

import struct Foundation.Date

/// The callers of an engine or of a follower: those that wait for a response of its machine, and the readers of its
/// states. It is behind the lock of the shell.
struct ShellCallers {
    typealias Waiter = CheckedContinuation<RefreshResponse, Never>

    let readers = Broadcast<SessionState>(keeping: .unbounded)
    private(set) var waiters: [WaiterID: Waiter] = [:]
    private var serverDate: Date?
    private var number = 0

    mutating func nextID() -> WaiterID { WaiterID(number: nextNumber()) }

    mutating func enter(_ waiter: Waiter, as id: WaiterID) { waiters[id] = waiter }

    /// The caller with its response, which it gets once the lock is free.
    mutating func leave(_ id: WaiterID, with response: RefreshResponse) -> (Waiter, RefreshResponse)? {
        waiters.removeValue(forKey: id).map { ($0, response) }
    }

    /// Whether a response's date is new: of a thousand with the same one, the first tells the time best.
    mutating func isNew(_ date: Date) -> Bool {
        defer { serverDate = date }
        return serverDate != date
    }

    mutating func nextNumber() -> Int {
        number += 1
        return number
    }
}

extension RefreshResponse {
    var token: SessionToken {
        get throws {
            if case .token(let token) = try get() { return token }
            preconditionFailure("a request for a token got the response \(self)")
        }
    }

    var state: SessionState {
        get throws {
            if case .state(let state) = try get() { return state }
            preconditionFailure("a request for the state got the response \(self)")
        }
    }

    /// The response, unless it is an error.
    func get() throws -> RefreshResponse {
        switch self {
        case .token, .state, .done: return self
        case .failed(let error): throw error
        case .cancelled: throw CancellationError()
        }
    }
}
