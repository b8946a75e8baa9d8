#if !canImport(FoundationNetworking)
import Foundation
import NetworkCore
import NetworkExchange

/// Reads an `HTTPBody` as a stream, for URLSession on Apple platforms: through a bound pair whose other half a task
/// writes on a queue, because a write blocks while the pair's buffer is full.
enum BoundBodyStream {
    private static let bufferSize = 64 * 1_024

    /// Makes the stream of a body. Returns the stream, and what ends it early.
    static func make(
        of body: HTTPBody, onFailure: @escaping @Sendable (any Error) -> Void
    ) throws -> (InputStream, @Sendable () -> Void) {
        var input: InputStream?
        var output: OutputStream?
        Stream.getBoundStreams(withBufferSize: bufferSize, inputStream: &input, outputStream: &output)
        guard let input, let output else {
            throw HTTPTransportError(.encodingFailed, reason: "there is no stream for the body")
        }
        let writer = BoundWriter(output)
        let feeder = Task {
            do {
                for try await piece in body {
                    guard await writer.write(piece) else { return writer.close() }
                }
            } catch {
                onFailure(HTTPTransportError(sending: error))
            }
            writer.close()
        }
        return (input, { feeder.cancel() })
    }
}

/// Writes to one half of a bound pair.
private final class BoundWriter: @unchecked Sendable {  // `output` is touched on `queue` only
    private let output: OutputStream
    private let queue = DispatchQueue(label: "latchkey.body")

    init(_ output: OutputStream) {
        self.output = output
        queue.async { output.open() }
    }

    /// Returns whether everything was written. `false`: the other half is closed.
    func write(_ piece: Data) async -> Bool {
        await withCheckedContinuation { continuation in
            queue.async { [output] in
                let hasWritten = piece.withUnsafeBytes { bytes in
                    var rest = bytes.bindMemory(to: UInt8.self)[...]
                    while let start = UnsafeBufferPointer(rebasing: rest).baseAddress, !rest.isEmpty {
                        let count = output.write(start, maxLength: rest.count)
                        guard count > 0 else { return false }
                        rest = rest.dropFirst(count)
                    }
                    return true
                }
                continuation.resume(returning: hasWritten)
            }
        }
    }

    func close() { queue.async { [output] in output.close() } }
}
#endif
