import Foundation

/// The calls of URLSession that may wait for its thread: making, starting and cancelling a task, and ending a session.
///
/// On Linux, all sessions of a process share one thread, and these calls wait for it. One response can keep it busy for
/// a long time (see ``URLSessionTransport``). So they have a thread too, on which nothing else waits: without it, they
/// would take the few threads of Swift's tasks, one after the other, and stop every task and every time limit of the
/// process.
enum BlockingCalls {
    #if canImport(FoundationNetworking)
    private static let queue = DispatchQueue(label: "latchkey.urlsession")

    static func perform(_ call: @escaping @Sendable () -> Void) { queue.async(execute: call) }
    #else
    static func perform(_ call: @escaping @Sendable () -> Void) { call() }
    #endif
}
