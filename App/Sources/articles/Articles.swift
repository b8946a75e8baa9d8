import Foundation

@main
enum Articles {
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        exit(await ArticlesCommand.run(arguments).rawValue)
    }
}
