import Foundation

@testable import Imaging
@testable import NetworkCaching
@testable import NetworkCore
@testable import NetworkTransfers
@testable import TokenRefresh

/// What libFuzzer calls with each input. The environment names the parser.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzParser(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let data = start.map { Data(UnsafeBufferPointer(start: $0, count: count)) } ?? Data()
    try? parser(data)
    return 0
}

private let parser: @Sendable (Data) throws -> Void = {
    let name = ProcessInfo.processInfo.environment["PARSER"] ?? ""
    guard let parser = parsers[name] else { fatalError("no such parser: \(name)") }
    return parser
}()

private let parsers: [String: @Sendable (Data) throws -> Void] = [
    "events": { data in
        var parser = ServerSentEventParser(limit: 10_000)
        let cut = Int(data.first ?? 0) % max(1, data.count)
        for piece in [data.prefix(cut), data.dropFirst(cut)] {
            parser.take(Data(piece))
            while try parser.next() != nil {}
        }
    },
    "link": { data in
        let head = HTTPResponseHead(status: 200, headers: HTTPHeaders([("Link", text(data))]))
        _ = (head.links, head.link("next"))
    },
    "disposition": { data in
        guard let name = ContentDisposition(text(data))?.fileName else { return }
        precondition(!name.contains("/") && !name.hasPrefix(".") && name.utf8.count <= 255)
    },
    "cache": { data in
        let control = CacheControl(HTTPHeaders([("Cache-Control", text(data))]))
        precondition(control.seconds("max-age") ?? 0 >= 0)
    },
    "redaction": { data in
        precondition(!Redaction(secrets: ["very-secret"]).text(text(data)).contains("very-secret"))
    },
    "dates": { data in _ = HTTPDate(text(data)) },
    "claims": { data in
        // A payload in the alphabet of base64url, so that every input reaches the JSON.
        let payload = data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
        for token in ["a.\(payload.replacing("=", with: "")).b", text(data)] {
            guard let claims = JSONWebTokenClaims(token) else { continue }
            for date in [claims.expiresAt, claims.issuedAt].compactMap(\.self) {
                precondition((0...253_402_300_799).contains(date.timeIntervalSince1970))
            }
        }
    },
    "jpeg": { data in
        // The signature is given, so that every input reaches the segments.
        let file = Data([0xFF, 0xD8, 0xFF]) + data
        if let structure = JPEGStructure(ByteView(file)) { _ = (structure.disproportion, structure.colorProfile) }
        _ = JPEGMetadata.adding(colorProfile: data, to: file)
        guard let stripped = try? JPEGMetadata.stripped(from: file) else { return }
        precondition(stripped.count <= file.count && stripped.suffix(2) == Data([0xFF, 0xD9]))
        let again = try JPEGMetadata.stripped(from: stripped)
        precondition(again == stripped)
    },
    "exif": { data in _ = EXIFOrientation(tiff: ByteView(data)) },
    "image": { data in
        _ = try? ImageHeader(parsing: data)
        _ = try ImageHeader(parsing: Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) + data)
    },
]

private func text(_ data: Data) -> String { String(decoding: data, as: UTF8.self) }
