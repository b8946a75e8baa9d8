import ConcurrencyPrimitives
import Foundation
import NetworkCore

/// Notes the request of a call as it is sent, before authentication and redirects. It is the call's last interceptor.
final class SentHead: RequestInterceptor {
    private let last = Locked<HTTPRequestHead?>(nil)

    /// The request of the last attempt. `nil`: there was none, or the service has no interceptors.
    var head: HTTPRequestHead? { last.withLock { $0 } }

    func adapt(_ request: HTTPRequestHead, context: RequestContext) -> HTTPRequestHead {
        last.withLock { $0 = request }
        return request
    }
}

extension HTTPRequestHead {
    /// What decides which file a download receives: the method, the URL, and the fields by which servers choose a
    /// representation. It is kept on disk, so it has a number in place of the URL, whose path may have secrets too.
    var identity: String {
        let fields = ["Accept", "Accept-Language"].map { headers.values(of: $0).joined(separator: ", ") }
        let place = "\(url.host ?? "") \(Data(url.absoluteString.utf8).checksum)"
        return ([method.rawValue, place] + fields).joined(separator: "\n")
    }
}
