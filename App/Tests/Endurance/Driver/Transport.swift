import ArgumentParser
import NetworkAsyncHTTPClient
import NetworkCore
import NetworkURLSession

/// A transport of the processes.
enum Transport: String, ExpressibleByArgument, CaseIterable {
    case asyncHTTPClient = "AsyncHTTPClient"
    case urlSession = "URLSession"

    var made: any HTTPTransport {
        switch self {
        case .asyncHTTPClient: AsyncHTTPClientTransport()
        case .urlSession: URLSessionTransport()
        }
    }
}
