import ConcurrencyPrimitives
package import NetworkCore

// What the transports say alike.
extension HTTPTransportError {
    /// Why a response with a status outside 100 to 999, or with parts in an impossible order, is none (RFC 9110 §15).
    package static let noStatus = "the status of the response is not HTTP"

    /// The right to start the call has ended, or was withdrawn (G28).
    package static let notStarted = Self(.notStarted, reason: "it was too late to start the call, or it was withdrawn")

    /// The connection was lost. A request of which a part may have been sent may be processed.
    package static func connectionLost(hasHead: Bool, mayBeProcessed: Bool, repetition: Repetition = .unknown) -> Self {
        if hasHead { return Self(.connectionFailed, reason: "the connection was lost before the end of the body") }
        let lost = "the connection was lost before the response"
        let reason = mayBeProcessed ? lost + "; the server may have processed the request" : lost
        return Self(.connectionFailed, reason: reason, repetition: repetition)
    }

    /// A body that cannot be sent. The error of a sequence is not kept: its text may contain a secret.
    package init(sending error: any Error) {
        switch error {
        case let error as HTTPTransportError: self = error
        case let error as HTTPBodyError where error.code == .alreadyRead:
            self.init(.bodyNotReplayable, reason: error.reason)
        case let error as HTTPBodyError: self.init(.encodingFailed, reason: error.reason)
        default: self.init(.encodingFailed, reason: "the body's sequence failed (\(type(of: error)))")
        }
    }

    /// The idle timeout passed.
    package static func idle(for timeout: Duration, waitingFor wait: NetworkError.Wait) -> Self {
        Self(.timedOut, reason: "nothing was sent or received for \(timeout.inWords)", waitedFor: wait)
    }
}

extension HTTPTransportRequest {
    /// The longest time of the exchange to its end; before its head, the longest time to that.
    func longestTime(hasHead: Bool) -> Duration? {
        guard !hasHead, let timeToHead else { return timeToEnd }
        return min(timeToHead, timeToEnd ?? timeToHead)
    }
}
