import ConcurrencyPrimitives
import Foundation
import NetworkCore
import NetworkExchange

/// The delegate of a session: passes the events of a task to its driver.
final class URLSessionRouter: NSObject, Sendable {
    private let state = Locked<(drivers: [Int: URLSessionDriver], tasks: Int, isSpent: Bool)>(([:], 0, false))
    private let trust: ServerTrust

    init(_ trust: ServerTrust = .system) { self.trust = trust }

    func add(_ driver: URLSessionDriver, for task: URLSessionTask) {
        state.withLock { $0.drivers[task.taskIdentifier] = driver }
    }

    /// Counts a task to come. `false`: a server has sent a 408. It may be older than its request, whose own response
    /// would then be that to the next one, so the session makes no more tasks.
    func reserve() -> Bool {
        state.withLock { state in
            if !state.isSpent { state.tasks += 1 }
            return !state.isSpent
        }
    }

    private func driver(of task: URLSessionTask) -> URLSessionDriver? {
        state.withLock { $0.drivers[task.taskIdentifier] }
    }
}

extension URLSessionRouter: URLSessionDataDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
    ) {
        // The redirect is the response. The client decides whether it is followed.
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        #if canImport(FoundationNetworking)
        // Called only for a 401 with `Basic` or `Digest` whose body is complete: it is the response. Default handling
        // never ends the task; cancelling the challenge cancels it.
        driver(of: task)?.exchange.end()
        completionHandler(.cancelAuthenticationChallenge, nil)
        #else
        let space = challenge.protectionSpace
        guard trust != .system, space.authenticationMethod == NSURLAuthenticationMethodServerTrust,
            let server = space.serverTrust
        else { return completionHandler(.performDefaultHandling, nil) }
        guard trust.accepts(server, of: space.host) else {
            let reason = "the certificate of the host is not of a trusted authority, or its public key is no pin"
            driver(of: task)?.exchange.cancel(HTTPTransportError(.tlsFailed, reason: reason))
            return completionHandler(.cancelAuthenticationChallenge, nil)
        }
        completionHandler(.useCredential, URLCredential(trust: server))
        #endif
    }

    #if !canImport(FoundationNetworking)
    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping (InputStream?) -> Void
    ) {
        completionHandler(driver(of: task)?.makeStream())
    }
    #endif

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        driver(of: task)?.exchange.reportSent(totalBytesSent)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        if let response = response as? HTTPURLResponse {
            if response.statusCode == 408 { state.withLock { $0.isSpent = true } }
            driver(of: dataTask)?.receive(HTTPResponseHead(response))
        }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        driver(of: dataTask)?.receive(data)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let (driver, isOver) = state.withLock { state in
            state.tasks -= 1
            return (state.drivers.removeValue(forKey: task.taskIdentifier), state.isSpent && state.tasks == 0)
        }
        if isOver { session.finishTasksAndInvalidate() }
        // A refused redirect may be reported here only.
        if error == nil, let response = task.response as? HTTPURLResponse {
            driver?.receive(HTTPResponseHead(response))
        }
        driver?.complete(with: error)
    }
}
