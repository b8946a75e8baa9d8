import ArgumentParser
import Foundation
import NetworkCore

/// The arguments of `articles api` as a request.
struct APIRequest {
    /// The fields that the program sets itself.
    private static let reservedFields: Set<String> = [
        "authorization", "content-length", "host", "transfer-encoding",
    ]

    let method: HTTPMethod
    var url: URL
    var headers: HTTPHeaders
    var body: RequestBody

    /// The URL of a path below the base URL, or of a whole URL of the same origin.
    ///
    /// - Throws: `ValidationError` for another origin: the session's token is not sent there.
    static func url(_ path: String, below baseURL: URL) throws -> URL {
        let isWhole = path.lowercased().hasPrefix("http://") || path.lowercased().hasPrefix("https://")
        let base = baseURL.absoluteString.hasSuffix("/") ? baseURL.absoluteString : baseURL.absoluteString + "/"
        guard let url = URL(string: isWhole ? path : base + path.drop { $0 == "/" }), url.user == nil,
            url.fragment == nil, let origin = Origin(url)
        else { throw ValidationError("the path must be a path or a URL, percent-encoded, without user and fragment") }
        guard origin == Origin(baseURL) else {
            throw ValidationError("\(origin) is not the server of --base-url; the session's token is not sent there")
        }
        return url
    }

    /// Header fields written as `Name: value`.
    ///
    /// - Throws: `ValidationError` for a field that is invalid, or that the program sets itself.
    static func headers(_ lines: [String]) throws -> HTTPHeaders {
        var headers = HTTPHeaders()
        for line in lines {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let name = parts[0].trimmingCharacters(in: .whitespaces)
            guard !reservedFields.contains(name.lowercased()) else {
                throw ValidationError("--header must not set \(name), which the program sets")
            }
            do {
                guard parts.count == 2 else { throw ValidationError("") }
                try headers.append(name, parts[1].trimmingCharacters(in: .whitespaces))
            } catch {
                throw ValidationError("--header must be 'Name: value' in visible ASCII characters")
            }
        }
        return headers
    }

    /// Names and values written as `name=value`.
    static func fields(_ texts: [String]) throws -> [(name: String, value: String)] {
        try texts.map { text in
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, !parts[0].isEmpty else { throw ValidationError("--field must be name=value") }
            return (parts[0], parts[1])
        }
    }

    /// Fields as a JSON object, whose values are literals of JSON, integers, or else text. The last field of a name
    /// counts.
    static func object(_ fields: [(name: String, value: String)]) throws -> Data {
        let members = fields.map { ($0.name, literal($0.value)) }
        return try JSONSerialization.data(withJSONObject: Dictionary(members) { $1 })
    }

    private static func literal(_ text: String) -> Any {
        switch text {
        case "true": true
        case "false": false
        case "null": NSNull()
        // A number in another form, such as 007, is text.
        default: Int(text).flatMap { String($0) == text ? $0 as Any : nil } ?? text
        }
    }

    /// The URL with a query item, in place of the items of that name.
    static func url(_ url: URL, _ name: String, _ value: String) -> URL {
        guard var components = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return url }
        let item = URLQueryItem(name: encoded(name), value: encoded(value))
        let others = (components.percentEncodedQueryItems ?? []).filter { $0.name != item.name }
        components.percentEncodedQueryItems = others + [item]
        return components.url ?? url
    }

    private static func encoded(_ text: String) -> String {
        // The unreserved characters of RFC 3986, section 2.3.
        let unreserved = CharacterSet(
            charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        return text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? text
    }

    /// The request as an endpoint that returns the whole response.
    var endpoint: Endpoint<HTTPResponse> {
        var endpoint = Endpoint<HTTPResponse>.request(method, .url(url), body: body)
        endpoint.settings.headers = headers
        return endpoint
    }
}
