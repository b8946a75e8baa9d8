import ArgumentParser
import Foundation
import NIOConcurrencyHelpers
import NetworkCore
import NetworkRecording

/// The flags that show or record the requests of a command. None of them shows a secret.
struct TrafficOptions: ParsableArguments {
    @Flag(help: "Print each step of each request on standard error: URL, attempts, statuses, times.")
    var verbose = false

    @Flag(help: "Draw the requests on standard error after the command, as bars over time.")
    var trace = false

    @Option(
        help: "Record the requests and responses in this file (HAR 1.2), for a browser's developer tools.",
        completion: .file(extensions: ["har"]))
    var har: String?

    @Option(
        help: "Write a page about the requests to this file (HTML, without a link to anything else).",
        completion: .file(extensions: ["html"]))
    var report: String?

    func validate() throws {
        for (name, path) in [("--har", har), ("--report", report)] where path == "" || path == "-" {
            throw ValidationError("\(name) must name a file; standard output is /dev/stdout")
        }
        guard har == nil || har != report else { throw ValidationError("--har and --report must name two files") }
    }
}

final class TrafficRecording: Sendable {
    private let options: TrafficOptions
    private let events = EventRecorder()
    private let har: PrivateFile?
    let report: PrivateFile?
    let exchanges = ExchangeRecorder()
    private let console = Console(isJSON: false)
    private let startedAt = Date()
    private let isFinished = NIOLockedValueBox(false)

    /// - Throws: ``Failure`` when a file cannot be written, before anything is sent.
    init(_ options: TrafficOptions) throws {
        self.options = options
        har = try options.har.map { try PrivateFile($0) }
        report = try options.report.map { try PrivateFile($0) }
    }

    private var recordsEvents: Bool { options.trace || report != nil }

    var observers: [any NetworkObserver] {
        var observers: [any NetworkObserver] = recordsEvents ? [events] : []
        if options.verbose {
            observers.append(
                LoggingObserver(minimumLevel: .debug) { [console] _, line in
                    console.log(line.onOneLine)
                })
        }
        return observers
    }

    /// The transport, with a recorder around it where one is needed.
    func transport(_ next: any HTTPTransport) -> any HTTPTransport {
        har == nil && report == nil ? next : exchanges.around(next)
    }

    /// Whether anything is recorded that is drawn or written at the end.
    var isActive: Bool { recordsEvents || har != nil }

    /// Draws and writes what was recorded. Another call does nothing, but waits for the first one. The base URL is left
    /// out of the names of requests.
    func finish(_ title: String, baseURL: String, _ verdict: Claims.Verdict? = nil) throws {
        try isFinished.withLockedValue { isFinished in
            guard !isFinished else { return }
            isFinished = true
            try write(title, baseURL: baseURL, verdict)
        }
    }

    private func write(_ title: String, baseURL: String, _ verdict: Claims.Verdict?) throws {
        if options.trace {
            let spans = CallSpan.spans(of: events.events, baseURL: baseURL)
            let lines = Waterfall(terminal: console.progressTerminal).lines(for: spans)
            for line in lines.isEmpty ? ["no requests"] : lines { console.log(line) }
        }
        if let har {
            try har.write(HTTPArchive(entries: exchanges.exchanges.map(\.entry)).encoded())
        }
        if let report {
            try report.write(Data(page(title, baseURL: baseURL, verdict).utf8))
        }
    }

    func page(_ title: String, baseURL: String, _ verdict: Claims.Verdict?) -> String {
        let page = ReportPage(
            title: title, baseURL: baseURL, startedAt: startedAt,
            spans: CallSpan.spans(of: events.events, baseURL: baseURL), exchanges: exchanges.exchanges,
            omitted: exchanges.omitted, verdict: verdict)
        return page.html
    }
}
