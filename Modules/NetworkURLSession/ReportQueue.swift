import Foundation

extension OperationQueue {
    /// A queue on which a session calls its delegate, one call after the other. `nil`: the session makes one.
    static func ofReports() -> OperationQueue? {
        #if canImport(FoundationNetworking)
        ReportQueue()
        #else
        nil
        #endif
    }
}

#if canImport(FoundationNetworking)
/// Runs what a session reports on a dispatch queue.
///
/// On Linux, an operation queue makes an object with states and locks of each report, and looks for what to do next
/// when it begins and when it ends: a tenth of the instructions of a request.
private final class ReportQueue: OperationQueue, @unchecked Sendable {  // what it has cannot be changed
    private let queue = DispatchQueue(label: "latchkey.urlsession.reports")

    override func addOperation(_ block: @escaping @Sendable () -> Void) { queue.async(execute: block) }

    override func addOperation(_ operation: Operation) { addOperation { operation.start() } }
}
#endif
