public import Foundation
public import NetworkCore

/// A request that a test double received.
///
/// It contains everything that was sent, secrets included. Its description shows the method and path only.
public struct SentRequest: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// The method.
    public let method: HTTPMethod

    /// The URL.
    public let url: URL?

    /// The header fields.
    public let headers: HTTPHeaders

    /// The body. A stream or file is read to its end. `nil`: there was none.
    public let body: Data?

    /// The idle timeout.
    public let timeout: Duration

    init(_ request: HTTPTransportRequest) throws {
        method = HTTPMethod(rawValue: request.head.httpMethod ?? "GET")
        url = request.head.url
        headers = HTTPHeaders((request.head.allHTTPHeaderFields ?? [:]).map { ($0.key, $0.value) })
        body = try request.body.read()
        timeout = request.timeout
    }

    /// The path, percent-encoded, without its leading slash.
    public var path: String {
        let path = url.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: true)?.percentEncodedPath } ?? ""
        return path.hasPrefix("/") ? String(path.dropFirst()) : path
    }

    /// The query, percent-encoded.
    public var query: String? {
        url.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: true)?.percentEncodedQuery }
    }

    /// The method and path.
    public var description: String { "\(method) /\(path)" }

    /// Shows `dump` and debuggers what ``description`` shows.
    public var customMirror: Mirror {
        Mirror(self, children: ["request": description], displayStyle: .struct)
    }
}

extension HTTPTransportBody {
    fileprivate func read() throws -> Data? {
        switch self {
        case .none: nil
        case .data(let data): data
        case .file(let url): try Data(contentsOf: url)
        case .stream(_, let make): try make().readToEnd()
        }
    }
}

extension InputStream {
    fileprivate func readToEnd() -> Data {
        open()
        defer { close() }
        var result = Data()
        var buffer = [UInt8](repeating: 0, count: 64 * 1_024)
        while true {
            let count = read(&buffer, maxLength: buffer.count)
            guard count > 0 else { return result }
            result.append(contentsOf: buffer[..<count])
        }
    }
}
