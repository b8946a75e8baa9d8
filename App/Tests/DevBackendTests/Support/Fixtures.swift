import DevBackend
import Foundation
import ProgramTesting
import Testing

/// The start and the end of a JPEG, with as many bytes between them as the length needs.
func jpeg(length: Int = 64) -> Data {
    let (start, end) = (Data([0xFF, 0xD8, 0xFF, 0xE0]), Data([0xFF, 0xD9]))
    return start + Data(repeating: 0x5A, count: length - start.count - end.count) + end
}

extension Trait where Self == TimeLimitTrait {
    /// Ends a test that hangs. It is long enough for a machine under load.
    static var hangLimit: Self { .timeLimit(.minutes(20)) }
}

extension RawConnection {
    /// Connects to a server.
    static func open(to backend: DevBackend) async throws -> RawConnection {
        try await open(port: #require(backend.origin.port))
    }

    func receiveText() async -> String { String(decoding: await receiveAll(), as: UTF8.self) }
}
