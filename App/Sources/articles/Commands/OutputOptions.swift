import ArgumentParser
import Foundation

/// An object that `--json` prints, with fields that can be selected.
protocol PrintedObject {
    /// The names of the fields, in the order of the help.
    static var fields: [String] { get }
}

/// The object of a command whose fields cannot be selected.
enum WholeObject: PrintedObject {
    static let fields: [String] = []
}

/// The flag of every command that prints something.
struct OutputOptions<Object: PrintedObject>: ParsableArguments {
    @Option(defaultAsFlag: JSONFields.all, parsing: .next, help: Self.help, completion: .list(Object.fields))
    var json: JSONFields? = nil

    var console: Console { Console(isJSON: json != nil, fields: json?.names) }

    /// Rejects unknown fields, and names the known ones, before the command does anything.
    func validate() throws {
        guard let names = json?.names else { return }
        guard !Object.fields.isEmpty else {
            throw ValidationError("this command prints one object; use --json without fields, as the last argument")
        }
        let unknown = names.filter { !Object.fields.contains($0) }
        guard unknown.isEmpty else {
            let list = unknown.map { "'\($0)'" }.joined(separator: ", ")
            throw ValidationError("unknown field \(list); the fields are \(Object.fields.joined(separator: ", "))")
        }
    }

    private static var help: ArgumentHelp {
        let object = "Print exactly one JSON object on standard output"
        guard !Object.fields.isEmpty else { return ArgumentHelp("\(object).", valueName: "fields") }
        return ArgumentHelp(
            "\(object), with these fields only: \(Object.fields.joined(separator: ", ")).", valueName: "fields")
    }
}

/// The value of `--json`: names with commas between them; without a value, all fields.
struct JSONFields: ExpressibleByArgument, CustomStringConvertible {
    static let all = JSONFields(names: nil)

    let names: [String]?

    private init(names: [String]?) {
        self.names = names
    }

    init?(argument: String) {
        names = argument.split(separator: ",", omittingEmptySubsequences: false)
            .map { $0.trimmingCharacters(in: .whitespaces) }
    }

    var description: String { names?.joined(separator: ",") ?? "all fields" }

    static func isRequested(by arguments: [String]) -> Bool {
        arguments.prefix { $0 != "--" }.contains { $0 == "--json" || $0.hasPrefix("--json=") }
    }

    /// Moves a `--json` before another argument, as in `show --json 7`, to the end. Names of fields start with a
    /// letter.
    static func normalized(_ arguments: [String]) -> [String] {
        var options = Array(arguments.prefix { $0 != "--" })
        let rest = arguments.dropFirst(options.count)
        guard let index = options.firstIndex(of: "--json"), index + 1 < options.count,
            options[index + 1].first?.isLetter != true
        else { return arguments }
        options.append(options.remove(at: index))
        return options + rest
    }
}
