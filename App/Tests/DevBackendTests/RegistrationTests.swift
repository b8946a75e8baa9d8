import DevBackend
import Foundation
import ProgramTesting
import Testing

@Suite(.hangLimit) struct RegistrationTests {
    @Test(.server) func `the response names every invalid field`() async throws {
        for (name, image, fields) in [
            (nil, nil, ["name", "image"]), ("  ", jpeg(), ["name"]),
            (String(repeating: "é", count: 51), jpeg(), ["name"]),
        ] as [(String?, Data?, [String])] {
            let response = try await client.register(name: name, image: image)
            #expect(response.outcome == "400 VALIDATION_FAILED")
            #expect(response.fields == fields)
        }
        let longest = try await client.register(name: String(repeating: "é", count: 50))
        #expect(longest.status == 201)
        #expect(backend.statistics.registrations == 1)
    }

    @Test(.server { $0.limits.imageBytes = 3_000_000 })
    func `an image of the maximum size is accepted, and one byte more is not`() async throws {
        #expect(try await client.register(image: jpeg(length: 3_000_000)).status == 201)
        let over = try await client.register(image: jpeg(length: 3_000_001))
        #expect(over.outcome == "413 IMAGE_TOO_LARGE")
    }

    @Test(.server) func `a body is refused by its declared length`() async throws {
        let connection = try await RawConnection.open(to: backend)
        // Nothing follows the head: a server that waits for the body would wait indefinitely.
        try await connection.send(
            "POST /api/v1/auth/guest/register HTTP/1.1\r\nHost: localhost\r\nContent-Length: 6000000\r\n"
                + "Content-Type: multipart/form-data; boundary=edge\r\n\r\n")
        #expect(await connection.receive(until: "IMAGE_TOO_LARGE").hasPrefix("HTTP/1.1 413 "))
        try await connection.close()
    }

    @Test(
        .server, arguments: [Data("GIF89a".utf8), Data([0xFF, 0xD8]), Data([0xFF, 0xD8, 0xFF, 0xD9]), Data("x".utf8)])
    func `an image that is not a JPEG is rejected`(image: Data) async throws {
        #expect(try await client.register(image: image).outcome == "415 UNSUPPORTED_IMAGE")
    }

    @Test(.server) func `a part of a picture is sent, and the rest where the first response ended`() async throws {
        let picture = jpeg(length: 5_000)
        let session = try await client.register(image: picture).data(Received.Tokens.self)
        let path = "/files/\(try #require(session.user?.profileImageKey))"
        func get(_ headers: [String: String] = [:]) async throws -> Received.Response {
            try await client.get(path, token: session.accessToken, headers: headers)
        }
        let whole = try await get()
        let tag = try #require(whole.header("ETag"))
        #expect(whole.status == 200 && whole.data == picture && whole.header("Accept-Ranges") == "bytes")
        let first = try await get(["Range": "bytes=0-1999"])
        #expect(first.status == 206 && first.header("Content-Range") == "bytes 0-1999/5000")
        let rest = try await get(["Range": "bytes=2000-", "If-Range": tag])
        #expect(rest.status == 206 && rest.header("Content-Range") == "bytes 2000-4999/5000")
        #expect(first.data + rest.data == picture)
        #expect(try await get(["Range": "bytes=2000-", "If-Range": "\"other\""]).data == picture)
        let beyond = try await get(["Range": "bytes=5000-"])
        #expect(beyond.status == 416 && beyond.header("Content-Range") == "bytes */5000")
        for field in ["bytes=5-4", "bytes=-", "bytes=0-1,4-5", "bytes=a-b", "items=0-1", "bytes=+1-2"] {
            #expect(try await get(["Range": field]).data == picture, "\(field)")
        }
    }

    @Test(.server) func `a client that expects 100-continue receives it`() async throws {
        let connection = try await RawConnection.open(to: backend)
        let body = #"{"refreshToken": "unknown"}"#
        try await connection.send(
            "POST /api/v1/auth/logout HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
                + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n")
        #expect(await connection.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 100 Continue\r\n"))
        try await connection.send(body)
        #expect(await connection.receive(until: "requestId").contains("HTTP/1.1 200 OK"))
        try await connection.close()
    }
}
