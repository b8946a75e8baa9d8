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

    @Option(help: "What you are to be called.")
    var name: String

    @Option(help: "Your picture. It is made to fit 1024×1024 pixels and 5 MB, and loses its metadata.")
    var photo: String

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await connection.withGraph { graph in
            let console = output.console
            let login = Login(graph: graph, console: console)
            try await login.checkStore()
            let photo = try AppGraph.photoFitter().fit(InputFile(photo).data())
            console.say("photo fitted: \(photo.size), \(photo.jpeg.count.inKilobytes)")
            let bar = ProgressBar("upload", on: console)
            try await login.perform {
                try await graph.auth.registerGuest(name: name, photo: photo.jpeg) { bar.show($0) }
            }
        }
    }
}
