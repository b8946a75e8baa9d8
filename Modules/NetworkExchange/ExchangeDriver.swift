/// What an HTTP library does for an ``Exchange``. It reports what it sees of the request and the response.
///
/// The exchange keeps it until the end. Calls come on any thread, outside all locks, and must not block.
package protocol ExchangeDriver: AnyObject, Sendable {
    /// Sends the request: there is a connection for it. It is called once, or never when the exchange ends before.
    func start()

    /// Lets the server send more, after ``Exchange/receive(_:)`` has said that it must wait. Each such wait ends with
    /// one call, or with the end. The call can come before that method has returned.
    func demand()

    /// Ends the request and releases what it uses. It is called once, before the end is reported. Without an error, the
    /// response is whole.
    func end(_ error: (any Error)?)

    /// What lies behind an end, as the driver sees it. Returns the error to report.
    func cause(of error: (any Error)?) -> (any Error)?
}

extension ExchangeDriver {
    package func demand() {}
    package func cause(of error: (any Error)?) -> (any Error)? { error }
}
