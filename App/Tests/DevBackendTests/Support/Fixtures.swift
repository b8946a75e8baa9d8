import DevBackend
import Foundation
import ProgramTesting
import Testing

/// The header of a JPEG, with a frame of the given size, padded to a length.
func jpeg(width: UInt16 = 640, height: UInt16 = 480, length: Int = 0) -> Data {
    var bytes = Data([0xFF, 0xD8])
    bytes += [0xFF, 0xE0, 0x00, 0x10] + Data("JFIF\0".utf8) + [1, 1, 0, 0, 1, 0, 1, 0, 0]
    bytes += [0xFF, 0xC0, 0x00, 0x0B, 0x08]
    bytes += [UInt8(height >> 8), UInt8(height & 0xFF), UInt8(width >> 8), UInt8(width & 0xFF), 1, 1, 0x11, 0]
    bytes += Data(repeating: 0x5A, count: max(0, length - bytes.count - 2))
    return bytes + [0xFF, 0xD9]
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
