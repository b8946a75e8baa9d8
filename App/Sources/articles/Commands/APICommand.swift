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
        _ = try APIRequest.headers(header)
        _ = try APIRequest.fields(field)
    }

    func run() async throws {
        try await connection.withGraph { graph in
            let request = try request(below: graph.configuration.baseURL)
            let console = Console(isJSON: false)
            do {
                console.write(try await graph.network.send(request.endpoint).body)
            } catch let error as NetworkError {
                if let body = error.body { console.write(body) }
                throw error
            }
        }
    }

    private var isQueryMethod: Bool { ["GET", "HEAD"].contains(method.uppercased()) }

    private func request(below baseURL: URL) throws -> APIRequest {
        var url = try APIRequest.url(path, below: baseURL)
        var headers = try APIRequest.headers(header)
        let fields = try APIRequest.fields(field)
        var body = RequestBody.none
        if let input {
            let type = headers["Content-Type"] ?? "application/json"
            headers.remove("Content-Type")
            body = .data(try InputFile(input).data(), contentType: type)
        } else if isQueryMethod {
            for field in fields { url = APIRequest.url(url, field.name, field.value) }
        } else if !fields.isEmpty {
            body = .data(try APIRequest.object(fields), contentType: "application/json")
        }
        return APIRequest(method: HTTPMethod(rawValue: method.uppercased()), url: url, headers: headers, body: body)
    }
}
