// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

// The declarations of Alamofire 5.11 that the example AlamofireInterceptor uses, as its sources have them. The package
// is no dependency of this one. See the stub of Darwin for what such a stub shows.

public protocol RequestAdapter: Sendable {
    func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void)
}

public protocol RequestRetrier: Sendable {
    func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void)
}

public protocol RequestInterceptor: RequestAdapter, RequestRetrier {}

public enum RetryResult: Sendable {
    case retry
    case retryWithDelay(TimeInterval)
    case doNotRetry
    case doNotRetryWithError(any Error)
}

public protocol RedirectHandler: Sendable {
    func task(
        _ task: URLSessionTask, willBeRedirectedTo request: URLRequest, for response: HTTPURLResponse,
        completion: @escaping (URLRequest?) -> Void)
}

open class Session: @unchecked Sendable {
    public init(interceptor: (any RequestInterceptor)? = nil, redirectHandler: (any RedirectHandler)? = nil) {}
}

public class Request: @unchecked Sendable {
    public var request: URLRequest? { nil }
    public var response: HTTPURLResponse? { nil }
    public var retryCount: Int { 0 }
}
