import ConcurrencyPrimitives
import Foundation
import NetworkCore
import NetworkExchange

/// The connections of URLSession for requests of one purpose, so that those of another never use them up.
///
/// A session is made when it is first needed: each has threads of its own.
final class URLSessionPool: Sendable {
    private struct Warm {
        /// A host with pins has a session of its own: HTTP/2 would use a connection to another host whose certificate
        /// is valid for both (RFC 9113 §9.1.1), and whose key was never compared.
        var sessions: [String?: (session: URLSession, router: URLSessionRouter)] = [:]
        var lanes = LaneTable<Origin, ExchangeLane>()
        var coldLanes = LaneTable<Origin, ExchangeLane>()
    }

    private let coldConnections: Int
    private let connectionsPerHost: Int
    private let configure: @Sendable (URLSessionConfiguration) -> Void
    private let trust: ServerTrust
    private let warm = Locked(Warm())

    init(
        connectionsPerHost: Int, coldConnections: Int, trust: ServerTrust = .system,
        configure: @escaping @Sendable (URLSessionConfiguration) -> Void
    ) {
        self.connectionsPerHost = connectionsPerHost
        self.configure = configure
        self.coldConnections = coldConnections
        self.trust = trust
    }

    deinit {
        // A session retains its delegate until it is invalidated. Its tasks end first.
        let sessions = warm.withLock { $0.sessions }.values.map(\.session)
        guard !sessions.isEmpty else { return }
        BlockingCalls.perform { for session in sessions { session.finishTasksAndInvalidate() } }
    }

    /// Where requests to an origin wait for a warm connection.
    func warmLane(for origin: Origin) -> ExchangeLane {
        warm.withLock { warm in
            warm.lanes.lane(for: origin) {
                let multiplexed = max(connectionsPerHost, URLSessionTransport.multiplexedRequestsPerOrigin)
                return ExchangeLane(limit: origin.isCleartext ? connectionsPerHost : multiplexed)
            }
        }
    }

    /// Where requests to an origin wait for a cold connection. Those that stall hold up no other origin.
    func coldLane(for origin: Origin) -> ExchangeLane {
        warm.withLock { warm in
            warm.coldLanes.lane(for: origin) { ExchangeLane(limit: coldConnections) }
        }
    }

    /// Makes the task of an exchange with an origin over a connection that may have been used.
    func warmTask(for driver: URLSessionDriver, to origin: Origin) -> URLSessionTask {
        let pinnedHost = trust.pins.keys(of: origin.host) == nil ? nil : origin.host
        let (session, router) = warm.withLock { warm in
            if let known = warm.sessions[pinnedHost], known.router.reserve() { return known }
            let router = URLSessionRouter(trust)
            _ = router.reserve()
            let made = (makeSession(delegate: router), router)
            warm.sessions[pinnedHost] = made
            return made
        }
        return Self.task(for: driver, in: session, router: router)
    }

    /// Makes the task of an exchange over a new connection, which is used once.
    func coldTask(for driver: URLSessionDriver) -> URLSessionTask {
        let router = URLSessionRouter(trust)
        let session = makeSession(delegate: router)
        defer { session.finishTasksAndInvalidate() }
        return Self.task(for: driver, in: session, router: router)
    }

    private func makeSession(delegate: URLSessionRouter) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configure(configuration)
        configuration.httpMaximumConnectionsPerHost = connectionsPerHost
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.httpCookieStorage = nil
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpShouldSetCookies = false
        configuration.urlCredentialStorage = nil
        #if canImport(FoundationNetworking)
        let reports = ReportQueue()
        #else
        let reports: OperationQueue? = nil
        #endif
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: reports)
    }

    private static func task(
        for driver: URLSessionDriver, in session: URLSession, router: URLSessionRouter
    ) -> URLSessionTask {
        var head = URLRequest(driver.exchange.request.head)
        // FoundationNetworking knows `http`, and not `HTTP`.
        if let url = head.url, let scheme = url.scheme, scheme != scheme.lowercased() {
            head.url = URL(string: scheme.lowercased() + url.absoluteString.dropFirst(scheme.count))
        }
        // The watch of the exchange ends first, and knows of a process that has slept.
        head.timeoutInterval = URLSessionTransport.sessionTimeout / .seconds(1)
        head.httpShouldHandleCookies = false
        let task: URLSessionTask
        switch driver.upload {
        case .none:
            task = session.dataTask(with: head)
        case .data(let data):
            task = session.uploadTask(with: head, from: data)
        case .file(let url, _, _, _):
            task = session.uploadTask(with: head, fromFile: url)
        case .stream:
            #if !canImport(FoundationNetworking)
            if let length = driver.exchange.request.body.length {
                head.setValue("\(length)", forHTTPHeaderField: "Content-Length")
            }
            head.httpBodyStream = driver.makeStream()
            #endif
            task = session.dataTask(with: head)
        }
        router.add(driver, for: task)
        return task
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
