import DevBackend
import Foundation
import ProgramTesting
import Testing

/// Uploads on their way to the disk.
@Suite(.hangLimit) struct UploadFileTests {
    private static let uploads = 100
    /// The part of each image that arrives: 4.5 MB of the 5 MiB that are declared.
    private static let bytes = 4_500_000

    /// The head of an upload, and the start of its image.
    private func start(_ bytes: Int) -> String {
        let part =
            "--\(MultipartBody.boundary)\r\nContent-Disposition: form-data; name=\"image\"; filename=\"a.jpg\"\r\n\r\n"
        return "POST /api/v1/auth/guest/register HTTP/1.1\r\nHost: localhost\r\n"
            + "Content-Type: \(MultipartBody.contentType)\r\nContent-Length: 5242880\r\n\r\n"
            + part + String(repeating: "x", count: bytes)
    }

    private func leftovers(_ folder: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix(".latchkey-upload") }
    }

    /// The most resident memory that a process has had, and how many files without a name it has open.
    private func usage(of process: Int32) throws -> (peakBytes: Int, files: Int) {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = try status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }.required("VmHWM")
        let kilobytes = try line.split(separator: " ").dropFirst().first.flatMap { Int($0) }.required("a number")
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd")
        let targets = descriptors.compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/fd/\($0)")
        }
        return (kilobytes * 1024, targets.count { $0.contains(".latchkey-upload") })
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/fd")))
    func `a hundred unfinished images take disk, not memory, and are closed in time`() async throws {
        try await withTemporaryFolder { folder in
            let program = try await SpawnedProgram(
                SpawnedProgram.executable("BackendProcess"), [folder.appendingPathComponent("db").path, "3000"],
                environment: ProcessInfo.processInfo.environment)
            defer { program.kill() }
            let line = try await program.lines.first { _ in true }.required("the URL of the server")
            let url = try URL(string: line).required("a URL")
            _ = try await TestClient(url).signIn()
            let before = try usage(of: program.identifier).peakBytes
            let text = start(Self.bytes)
            let connections = try await withThrowingTaskGroup(of: RawConnection.self) { group in
                for _ in 0..<Self.uploads {
                    group.addTask {
                        let connection = try await RawConnection.open(to: url)
                        try await connection.send(text)
                        return connection
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            for connection in connections {
                #expect(await connection.receiveText().hasPrefix("HTTP/1.1 408 "))
            }
            let after = try usage(of: program.identifier)
            #expect(after.files == 0)
            #expect(after.peakBytes - before < 100_000_000, "\(after.peakBytes - before) bytes")
            #expect(try leftovers(folder).isEmpty)
            #expect(try await TestClient(url).register().status == 201)
            program.kill()
            _ = await program.result
        }
    }

    @Test func `a cut connection and a kill leave no file, and a name that a kill left is removed`() async throws {
        try await withTemporaryFolder { folder in
            let database = folder.appendingPathComponent("db").path
            let left = folder.appendingPathComponent(".latchkey-upload-\(UUID())")
            try Data().write(to: left)
            // A process that ends between making a file and taking its name away leaves it to the next one.
            for isKilled in [false, true, false] {
                let program = try await SpawnedProgram(
                    SpawnedProgram.executable("BackendProcess"), [database],
                    environment: ProcessInfo.processInfo.environment)
                defer { program.kill() }
                let line = try await program.lines.first { _ in true }.required("the URL of the server")
                let url = try URL(string: line).required("a URL")
                #expect(try leftovers(folder).isEmpty)
                let connections = try await (0..<10).asyncMap { _ in try await RawConnection.open(to: url) }
                for connection in connections { try await connection.send(start(100_000)) }
                if isKilled {
                    program.kill()
                } else {
                    // On a machine under load the server may have closed it.
                    for connection in connections { try? await connection.close() }
                    #expect(try await TestClient(url).register().status == 201)
                    program.kill(SIGTERM)
                }
                _ = await program.result
            }
        }
    }

    @Test func `uploads above the space for all are refused, and the space is free again afterwards`() async throws {
        var configuration = DevBackend.Configuration()
        configuration.limits.uploadBytes = 1_000_000
        // The first upload keeps its space until its connection is closed.
        configuration.limits.bodyIdleTimeout = .seconds(3600)
        configuration.limits.bodyTotalTimeout = .seconds(3600)
        try await DevBackend.withServer(configuration) { backend in
            let first = try await RawConnection.open(to: backend)
            try await first.send(start(900_000))
            // A request for each look: the server may take its time.
            while backend.statistics.maxUploadBytes < 890_000 { _ = try await TestClient(backend).get("/nowhere") }
            let image = jpeg(length: 500_000)
            let refused = try await TestClient(backend).register(MultipartBody.registration(image: image))
            #expect(refused.status == 503 && refused.code == "UPLOAD_SPACE_EXHAUSTED")
            #expect(refused.header("Retry-After") == "1")
            try? await first.close()
            var status = 503
            while status == 503 {
                status = try await TestClient(backend).register(MultipartBody.registration(image: image)).status
            }
            #expect(status == 201)
            #expect((890_000...1_000_000).contains(backend.statistics.maxUploadBytes))
        }
    }

    @Test func `an image without a declared length is refused once it is too large`() async throws {
        var configuration = DevBackend.Configuration()
        configuration.limits.imageBytes = 100_000
        try await DevBackend.withServer(configuration) { backend in
            let connection = try await RawConnection.open(to: backend)
            let part = "--\(MultipartBody.boundary)\r\nContent-Disposition: form-data; name=\"image\"\r\n\r\n"
            try await connection.send(
                "POST /api/v1/auth/guest/register HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
                    + "Content-Type: \(MultipartBody.contentType)\r\n\r\n")
            for text in [part] + Array(repeating: String(repeating: "x", count: 25_100), count: 4) {
                try await connection.send("\(String(text.utf8.count, radix: 16))\r\n\(text)\r\n")
            }
            let response = await connection.receive(until: "IMAGE_TOO_LARGE")
            #expect(response.hasPrefix("HTTP/1.1 413 "))
            try await connection.close()
        }
    }
}

extension Sequence {
    fileprivate func asyncMap<Value>(_ transform: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await transform(element)) }
        return values
    }
}
