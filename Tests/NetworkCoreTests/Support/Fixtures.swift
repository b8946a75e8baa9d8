import AuthInterface
import ConcurrencyPrimitives
import Foundation
import NetworkCore

struct Article: Codable, Hashable, Sendable {
    var id: Int
    var title: String
}

extension Endpoint where Response == Article {
    static func article(_ id: Int) -> Self { .get("articles/\(id)") }
    static func create(_ article: Article) -> Self { .post("articles", json: article) }
}

let baseURL = url("https://api.example.com/api/v1")

/// A URL of a literal. A mistake ends the test.
func url(_ text: String) -> URL {
    guard let url = URL(string: text) else { preconditionFailure("no URL: \(text)") }
    return url
}

/// Collects the values that an observer or a progress handler receives.
final class Recorder<Value: Sendable>: Sendable {
    private let state = Locked<[Value]>([])

    var values: [Value] { state.withLock { $0 } }

    func record(_ value: Value) {
        state.withLock { $0.append(value) }
    }
}

extension Recorder: NetworkObserver where Value == NetworkEvent {
    func receive(_ event: NetworkEvent) { record(event) }
}

/// A file that is removed with the test.
final class TemporaryFile: Sendable {
    let url: URL

    init(_ content: Data, named name: String = "file.bin") throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("latchkey-tests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        url = folder.appendingPathComponent(name)
        try content.write(to: url)
    }

    deinit {
        try? FileManager.default.removeItem(at: url.deletingLastPathComponent())
    }
}

extension Data {
    /// The data in pieces of 64 KB.
    var pieces: AsyncStream<Data> {
        AsyncStream { continuation in
            var rest = self[...]
            while !rest.isEmpty {
                continuation.yield(Data(rest.prefix(64 * 1_024)))
                rest = rest.dropFirst(64 * 1_024)
            }
            continuation.finish()
        }
    }
}
