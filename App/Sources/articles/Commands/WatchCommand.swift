import ArgumentParser
import Composition
import DataAPI
import Foundation
import NetworkCore
import NetworkTransfers

struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Print each change of the articles as it happens, until Ctrl-C.",
        discussion: """
            A line has the event, what happened (created, changed, deleted) and the article. A lost connection is \
            opened again, and no change is lost or repeated.
            """,
        examples: ["articles watch", "articles watch --after 0 --json-lines"])

    @Option(help: "Start after this event of an earlier run; 0 is the oldest that the server keeps.")
    var after: String?

    @Flag(help: "Print one JSON object on each line.")
    var jsonLines = false

    @OptionGroup(title: ConnectionOptions.title) var connection: ConnectionOptions

    private struct Change: Encodable {
        struct Data: Decodable { let id: Article.ID }

        let event: String
        let kind: String
        let article: Article.ID
    }

    func validate() throws {
        if let after, !after.isVisibleASCII {
            throw ValidationError("--after must be the event of an earlier line")
        }
    }

    func run() async throws {
        try await connection.withGraph { graph in
            let console = Console(isJSON: false)
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            var options = EventStreamOptions()
            options.lastEventID = after ?? ""
            for try await event in graph.network.events(Endpoint<Void>.get("articles/events"), options: options) {
                let data = try? JSONDecoder().decode(Change.Data.self, from: Data(event.data.utf8))
                // A kind of event that this program does not know.
                guard let data else { continue }
                let change = Change(event: event.id, kind: event.type, article: data.id)
                if jsonLines {
                    console.write(String(decoding: try encoder.encode(change), as: UTF8.self))
                } else {
                    let row = [change.event, change.kind, change.article.rawValue]
                    console.printRow(row) { "\($0[0].leftPadded(to: 6))  \($0[1].fitted(to: 8))  article \($0[2])" }
                }
                guard !Console.outputHasFailed else { return }
            }
        }
    }
}
