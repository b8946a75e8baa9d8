import ArgumentParser
import Composition
import Foundation
import NetworkCore

struct APICommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "api",
        abstract: "Send a request with the session's token, and print the body of the response.",
        discussion: """
            The token is refreshed as for every command, and is sent to the server of --base-url only. The body of an \
            error response is printed too, and the exit status is 1.
            """,
        examples: [
            "articles api GET articles?limit=2", "articles api PATCH articles/7 --field title=New",
            "articles api POST articles --input article.json",
        ])

    @Argument(
        help: "The request method, such as GET.", completion: .list(["GET", "POST", "PATCH", "PUT", "DELETE", "HEAD"]))
    var method: String

    @Argument(help: "The path below the base URL, with a query if needed, or a URL of the same server.")
    var path: String

    @Option(
        help: """
            A field name=value: of the query with GET and HEAD, else of a JSON object, where true, false, null and \
            integers are no text. Repeatable.
            """)
    var field: [String] = []

    @Option(
        help: "The file to send as the body; - is standard input. It is JSON unless --header says otherwise.",
        completion: .file())
    var input: String?

    @Option(help: "A header field 'Name: value'. Repeatable.")
    var header: [String] = []

    @OptionGroup(title: ConnectionOptions.title) var connection: ConnectionOptions

    func validate() throws {
        guard !method.isEmpty, method.utf8.allSatisfy({ (0x41...0x5A).contains($0 & 0xDF) }) else {
            throw ValidationError("the method must be letters, such as GET")
        }
        guard field.isEmpty || input == nil else { throw ValidationError("give either --field or --input") }
        guard input == nil || !isQueryMethod else { throw ValidationError("--input cannot be sent with \(method)") }
        _ = try APIArguments.headers(header)
        _ = try APIArguments.fields(field)
    }

    func run() async throws {
        try await connection.withGraph { graph in
            let endpoint = try endpoint(below: graph.configuration.baseURL)
            let console = Console(isJSON: false)
            do {
                console.write(try await graph.network.send(endpoint).body)
            } catch let error as NetworkError {
                if let body = error.body { console.write(body) }
                throw error
            }
        }
    }

    private var isQueryMethod: Bool { ["GET", "HEAD"].contains(method.uppercased()) }

    /// The request, whose response is read as a whole.
    private func endpoint(below baseURL: URL) throws -> Endpoint<HTTPResponse> {
        var url = try APIArguments.url(path, below: baseURL)
        var headers = try APIArguments.headers(header)
        let fields = try APIArguments.fields(field)
        var body = RequestBody.none
        if let input {
            let type = headers["Content-Type"] ?? "application/json"
            headers.remove("Content-Type")
            body = .data(try InputFile(input).data(), contentType: type)
        } else if isQueryMethod {
            for field in fields { url = APIArguments.url(url, field.name, field.value) }
        } else if !fields.isEmpty {
            body = .data(try APIArguments.object(fields), contentType: "application/json")
        }
        var endpoint = Endpoint<HTTPResponse>.request(
            HTTPMethod(rawValue: method.uppercased()), .url(url), body: body)
        endpoint.settings.headers = headers
        return endpoint
    }
}

private enum APIArguments {
    /// The fields that the program sets itself.
    private static let reservedFields: Set<String> = [
        "authorization", "content-length", "host", "transfer-encoding",
    ]

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
            let value = parts.last?.trimmingCharacters(in: .whitespaces) ?? ""
            guard parts.count == 2, (try? headers.append(name, value)) != nil else {
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
}
