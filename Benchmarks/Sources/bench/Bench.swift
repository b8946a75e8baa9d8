import ArgumentParser
import CountingMalloc
import Foundation

@main
enum Program {
    /// What callgrind counts runs on the main thread: it counts what one thread does, and stops where the main thread
    /// has ended, as it does in a program whose `main` is asynchronous. What is timed runs as in any program.
    static func main() {
        keepFreedMemory()
        let executor = MainThreadExecutor()
        let isCounted = ProcessInfo.processInfo.environment[Instructions.isCounted] != nil
        let work: @Sendable () async -> Never = {
            await Bench.main()
            exit(0)
        }
        // A task with a preference, even for no executor, takes a lock each time that it returns from a call that may
        // suspend, and so do its children.
        if isCounted { Task(executorPreference: executor) { await work() } } else { Task.detached { await work() } }
        executor.run()
    }
}

/// Runs jobs on the thread that calls ``run()``.
private final class MainThreadExecutor: TaskExecutor, @unchecked Sendable {  // `condition` guards `jobs`
    private let condition = NSCondition()
    private var jobs: [UnownedJob] = []

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        condition.lock()
        jobs.append(job)
        condition.signal()
        condition.unlock()
    }

    func run() -> Never {
        while true {
            condition.lock()
            while jobs.isEmpty { condition.wait() }
            let due = jobs
            jobs.removeAll(keepingCapacity: true)
            condition.unlock()
            for job in due { job.runSynchronously(on: asUnownedTaskExecutor()) }
        }
    }
}

struct Bench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measures what the layer costs.",
        subcommands: [Run.self, Check.self, Repeat.self])
}

struct Selection: ParsableArguments {
    @Option(help: "The subjects to measure, separated by commas; all by default.")
    var only: String?

    @Option(help: "Measure nothing: take what an earlier run has written to this file with --json.")
    var from: String?

    func measure() async throws -> Report {
        if let from { return try .reading(from) }
        let names = only?.split(separator: ",").map(String.init)
        if let wrong = names?.first(where: { name in !subjects.contains { $0.name == name } }) {
            throw ValidationError(
                "no subject '\(wrong)'; there are \(subjects.map { $0.name }.joined(separator: ", "))")
        }
        var report = Report()
        for subject in subjects where names?.contains(subject.name) ?? true {
            FileHandle.standardError.write(Data("measuring \(subject.name), load \(Usage.load)\n".utf8))
            report.sections.append(
                .init(name: subject.name, summary: subject.summary, measurements: try await subject.measure()))
        }
        return report
    }
}

/// Prints a table, and writes the report as JSON, and a chart.
struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Measure, and print a table.")

    @OptionGroup var selection: Selection

    @Option(help: "Also write the report as JSON to this file.")
    var json: String?

    @Option(help: "Also draw the chart of the pipeline, where it was measured, in this folder.")
    var charts: String?

    @Option(help: "Also replace the tables and the chart of this page.")
    var page: String?

    func run() async throws {
        let report = try await selection.measure()
        print(report.table)
        if let json { try report.json.write(to: URL(fileURLWithPath: json)) }
        if let charts { try report.drawChart(in: URL(fileURLWithPath: charts)) }
        if let page { try ResultsPage(URL(fileURLWithPath: page)).update(by: report) }
    }
}

/// Compares counts and ratios with the committed thresholds.
struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Measure, and compare with committed thresholds.")

    @OptionGroup var selection: Selection

    @Argument(help: "The folder of the thresholds.")
    var folder: String

    @Flag(help: "Write what is measured, with a margin, as the new thresholds.")
    var update = false

    func run() async throws {
        let report = try await selection.measure()
        print(report.table)
        var thresholds = try Thresholds(folder: folder)
        if update { return try thresholds.update(by: report) }
        let exceeded = thresholds.exceeded(by: report)
        for line in exceeded { print(line) }
        guard exceeded.isEmpty else { throw ExitCode(1) }
        print("\(report.measurements.count(where: \.metric.isChecked)) counts and ratios are within their thresholds")
    }
}

/// What callgrind runs.
struct Repeat: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Do one work many times.", shouldDisplay: false)

    @Argument var name: String
    @Argument var count: Int

    func run() async throws {
        for subject in subjects where name.hasPrefix("\(subject.name)/") {
            for (work, _) in try subject.repeated() where work.name == name { return try await work.run(count) }
        }
        throw ValidationError("no work '\(name)'")
    }
}
