import DevBackend
import Foundation
import ProgramTesting
import Testing

/// The start and the end of a JPEG, with as many bytes between them as the length needs.
func jpeg(length: Int = 64) -> Data {
    let (start, end) = (Data([0xFF, 0xD8, 0xFF, 0xE0]), Data([0xFF, 0xD9]))
    return start + Data(repeating: 0x5A, count: length - start.count - end.count) + end
}

/// A multipart/form-data body, built without the code under test.
struct MultipartBody {
    static let boundary = "test-boundary-7d93"

    var data = Data()

    static var contentType: String { "multipart/form-data; boundary=\(boundary)" }

    mutating func add(_ name: String, filename: String? = nil, _ content: Data) {
        data += Data("--\(Self.boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"".utf8)
        if let filename { data += Data("; filename=\"\(filename)\"\r\nContent-Type: image/jpeg".utf8) }
        data += Data("\r\n\r\n".utf8) + content + Data("\r\n".utf8)
    }

    mutating func close() { data += Data("--\(Self.boundary)--\r\n".utf8) }

    static func registration(name: String? = "Ada", image: Data? = jpeg()) -> Data {
        var body = MultipartBody()
        if let name { body.add("name", Data(name.utf8)) }
        if let image { body.add("image", filename: "photo.jpg", image) }
        body.close()
        return body.data
    }
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

    /// Sends a request over a connection of its own, which the server closes after its response.
    static func response(of backend: DevBackend, to request: String) async throws -> String {
        let connection = try await open(to: backend)
        try await connection.send(request)
        return await connection.receiveText()
    }

    /// Reads until the server closes the connection.
    ///
    /// - Returns: The input since the last read.
    func receiveText() async -> String { String(decoding: await receiveAll(), as: UTF8.self) }
}
