package import Foundation

extension Data {
    /// The data in pieces of 64 KB.
    package var pieces: AsyncStream<Data> {
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
