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

    /// The most pages that --paginate requests.
    static let maximumPages = 10_000

    @Argument(
        help: "The request method, such as GET.", completion: .list(["GET", "POST", "PATCH", "PUT", "DELETE", "HEAD"]))
    var method: String

    @Argument(help: "The path below the base URL, with a query if needed, or a URL of the same server.")
    var path: String

    @Option(
        help: """
            A field name=value: of the query with GET and HEAD, else of a JSON object, where true, false, null and \
            integers are no text, and @FILE is the text of a file. Repeatable.
            """)
    var field: [String] = []

    @Option(help: "A field whose value is text as it is. Repeatable.")
    var rawField: [String] = []

    @Option(
        help: "The file to send as the body; - is standard input. It is JSON unless --header says otherwise.",
        completion: .file())
    var input: String?

    @Option(help: "A header field 'Name: value'. Repeatable.")
    var header: [String] = []

    @Flag(help: "Print the status and the header fields of the response too.")
    var include = false

    @Flag(help: "Request all pages of a list: with GET, while the response has a nextCursor. One body on each line.")
    var paginate = false

    @OptionGroup(title: ConnectionOptions.title) var connection: ConnectionOptions

    func validate() throws {
        guard !method.isEmpty, method.utf8.allSatisfy({ (0x41...0x5A).contains($0 & 0xDF) }) else {
            throw ValidationError("the method must be letters, such as GET")
        }
        guard !paginate || method.uppercased() == "GET" else { throw ValidationError("--paginate needs GET") }
        guard field.isEmpty && rawField.isEmpty || input == nil else {
            throw ValidationError("give either --field or --input")
        }
        guard input == nil || !isQueryMethod else { throw ValidationError("--input cannot be sent with \(method)") }
        _ = try APIRequest.headers(header)
        _ = try APIRequest.pairs(field + rawField)
    }

    func run() async throws {
        try await connection.withGraph { graph in
            var request = try request(below: graph.configuration.baseURL)
            let console = Console(isJSON: false)
            var seen: Set<String> = []
            for _ in 0..<Self.maximumPages {
                let response = try await response(to: request, of: graph, console)
                guard paginate, !Console.outputHasFailed, let next = APIRequest.nextCursor(in: response.body) else {
                    return
                }
                guard seen.insert(next).inserted else {
                    throw Failure("the server's pages lead in a circle; stopped after \(seen.count) pages", .refused)
                }
                request.url = APIRequest.url(request.url, "cursor", next)
            }
            console.note("stopped after \(Self.maximumPages) pages")
        }
    }

    private var isQueryMethod: Bool { ["GET", "HEAD"].contains(method.uppercased()) }

    private func request(below baseURL: URL) throws -> APIRequest {
        var url = try APIRequest.url(path, below: baseURL)
        var headers = try APIRequest.headers(header)
        let fields = try APIRequest.fields(field, raw: rawField)
        var body = RequestBody.none
        if let input {
            let type = headers["Content-Type"] ?? "application/json"
            headers.remove("Content-Type")
            body = .data(try InputFile(input).data(), contentType: type)
        } else if isQueryMethod {
            for field in fields { url = APIRequest.url(url, field.name, field.value.text) }
        } else if !fields.isEmpty {
            body = .json(Dictionary(fields.map { ($0.name, $0.value) }) { $1 })
        }
        return APIRequest(method: HTTPMethod(rawValue: method.uppercased()), url: url, headers: headers, body: body)
    }

    /// Sends the request, and prints the response.
    private func response(
        to request: APIRequest, of graph: AppGraph, _ console: Console
    ) async throws -> HTTPResponse {
        do {
            let response = try await graph.network.send(request.endpoint)
            if include { Self.print(response.head, on: console) }
            console.write(response.body)
            return response
        } catch let error as NetworkError {
            if include, let head = error.response { Self.print(head, on: console) }
            if let body = error.body { console.write(body) }
            throw error
        }
    }

    /// Prints the status and the header fields.
    private static func print(_ head: HTTPResponseHead, on console: Console) {
        console.write("HTTP \(head.status)")
        for field in head.headers { console.write("\(field.name): \(field.value)") }
        console.write("")
    }
}
