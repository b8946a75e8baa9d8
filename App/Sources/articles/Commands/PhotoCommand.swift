import ArgumentParser
import Composition
import DataAPI
import Foundation
import NetworkCore
import NetworkTransfers

struct PhotoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "photo",
        abstract: "Download your photo.",
        discussion: """
            A download that was interrupted goes on where it has ended, if the photo is still the same. The file is \
            replaced at once, when it is whole.
            """,
        examples: ["articles photo me.jpg"])

    @Argument(help: "The file to write.", completion: .file())
    var file: String

    @Flag(help: "Replace a file that exists.")
    var force = false

    @OptionGroup(title: ConnectionOptions.title) var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions<WholeObject>

    func validate() throws {
        guard !file.isEmpty, file != "-" else { throw ValidationError("the file must have a name") }
    }

    func run() async throws {
        try checkFile()
        try await connection.withGraph { graph in
            let console = output.console
            guard let url = try await graph.auth.me().profileURL else {
                throw Failure("this user has no photo", .refused)
            }
            guard Origin(url) == Origin(graph.configuration.baseURL) else {
                throw Failure("the photo is at another server, where the session's token is not sent", .refused)
            }
            let bar = ProgressBar("download", on: console)
            let target = URL(fileURLWithPath: file)
            var options = DownloadOptions()
            options.resumption = .acrossCalls
            let photo = try await graph.network.download(
                Endpoint<HTTPResponse>.request(.get, .url(url)), to: target, options: options
            ) { bar.show($0) }
            bar.finish()
            console.print("\(file): \(photo.size.inKilobytes)")
            try console.printObject(Photo(file: file, bytes: photo.size))
        }
    }

    private struct Photo: Encodable {
        let file: String
        let bytes: Int64
    }

    /// Checks the file before anything is sent.
    private func checkFile() throws {
        let folder = URL(fileURLWithPath: file).deletingLastPathComponent().path
        guard FileManager.default.fileExists(atPath: folder) else { throw Failure("\(folder) does not exist", .output) }
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: file, isDirectory: &isFolder) else { return }
        guard !isFolder.boolValue else { throw Failure("\(file) is a folder; name a file", .output) }
        let type = try? FileManager.default.attributesOfItem(atPath: file)[.type] as? FileAttributeType
        guard type == .typeRegular || type == .typeSymbolicLink else {
            throw Failure("\(file) is not a regular file", .output)
        }
        guard force else { throw Failure("\(file) exists; add --force to replace it", .usage) }
    }
}
