import Foundation

@main
enum Articles {
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if let index = (1..<max(1, Int(CommandLine.argc))).first(where: { !isUTF8($0) }) {
            // Swift would replace the bytes: a file of another name would be written.
            let failure = Failure("argument \(index) is not valid UTF-8; rename the file, or convert the text", .usage)
            Console(isJSON: false).printError(failure)
            exit(failure.status.rawValue)
        }
        exit(await ArticlesCommand.run(arguments).rawValue)
    }

    private static func isUTF8(_ index: Int) -> Bool {
        CommandLine.unsafeArgv[index].map { String(validatingCString: $0) != nil } ?? true
    }
}
