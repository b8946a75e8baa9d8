import ArgumentParser
import Composition
import DataAPI
import Foundation
import Imaging

struct LoginGuestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "guest",
        abstract: "Register as a guest, with a name and a photo (JPEG or PNG)."
    )

    @Option(help: "The display name.")
    var name: String

    @Option(help: "The photo. It is fitted to 1024×1024 pixels and 5 MB, and its metadata is removed.")
    var photo: String

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await connection.withGraph { graph in
            let console = output.console
            let login = LoginCommand.Flow(graph: graph, console: console)
            try await login.checkStore()
            let photo = try AppGraph.photoFitter().fit(InputFile(photo).data())
            console.print("photo fitted: \(photo.size), \(photo.jpeg.count.inKilobytes)")
            let bar = ProgressBar("upload", on: console)
            try await login.perform {
                try await graph.auth.registerGuest(name: name, photo: photo.jpeg) { bar.show($0) }
            }
        }
    }
}
