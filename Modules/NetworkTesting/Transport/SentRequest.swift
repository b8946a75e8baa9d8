public import Foundation
public import NetworkCore

/// A request as a double saw it.
///
/// It is for tests and holds what was sent as it was, secrets included; the description shows method and address only.
public struct SentRequest: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// The method.
    public let method: HTTPMethod

    /// The address.
    public let url: URL?

    /// The header fields.
    public let headers: HTTPHeaders

    /// The body, a stream or file read to its end. `nil` where there was none.
    public let body: Data?

    /// The longest silence to bear.
    public let timeout: Duration

    init(_ request: HTTPTransportRequest) throws {
        method = request.head.method
        url = request.head.url
        headers = request.head.headers
        body = try request.body.read()
        timeout = request.timeout
    }

    /// The path, percent-encoded, without the slash it begins with.
    public var path: String {
        let path = url.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: true)?.percentEncodedPath } ?? ""
        return path.hasPrefix("/") ? String(path.dropFirst()) : path
    }

    /// The query, percent-encoded.
    public var query: String? {
        url.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: true)?.percentEncodedQuery }
    }

    /// Method and path.
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
