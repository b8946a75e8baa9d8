import ArgumentParser

/// The flag of every command that prints something.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print exactly one JSON object on standard output.")
    var json = false

    var console: Console { Console(isJSON: json) }
}
