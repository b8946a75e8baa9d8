import Foundation
import NetworkCore

/// What has been received of a file, and what is needed to request the rest.
struct PartialFile {
    /// What is known about the bytes, in a file beside them.
    struct Record: Codable, Equatable {
        /// What was requested: see `HTTPRequestHead.identity`. `nil`: it is not known, and no later call may continue.
        var request: String?
        /// A strong `ETag`, or else a `Last-Modified` that counts as strong.
        var validator: String?
        var total: Int64?
        /// The bytes that the disk has.
        var length: Int64 = 0
        var session: String?
    }

    /// The bytes after which the record is written again.
    private static let recordInterval: Int64 = 8 * 1_024 * 1_024

    private let file: ReplacementFile
    private let recordURL: URL?
    private(set) var record: Record
    private(set) var length: Int64

    /// Whether the bytes are of an earlier call, and no response of this one has continued them.
    private var isOfEarlierCall = false

    /// Whether nothing is known of bytes after the last response.
    private var isLastPart = true

    /// Opens what an earlier call left, or creates an empty file.
    ///
    /// - Throws: `NetworkError` with code `fileFailed`.
    init(of target: URL, keepsFile: Bool) throws {
        record = Record()
        length = 0
        guard keepsFile, let (file, recordURL) = Self.kept(of: target) else {
            file = try ReplacementFile(beside: target)
            recordURL = nil
            return
        }
        self.file = file
        self.recordURL = recordURL
        let found = (try? Data(contentsOf: recordURL)).flatMap { try? JSONDecoder().decode(Record.self, from: $0) }
        if let found, found.request != nil, found.validator != nil, found.length > 0, found.length <= file.length {
            record = found
            length = found.length
            isOfEarlierCall = true
        }
        try file.cut(to: length)
    }

    /// `nil`: another call has the file; this one then uses a file of its own.
    private static func kept(of target: URL) -> (ReplacementFile, URL)? {
        let name = String(decoding: target.lastPathComponent.utf8.prefix(200), as: UTF8.self)
        let url = target.deletingLastPathComponent().appendingPathComponent(".\(name).partial")
        guard let file = try? ReplacementFile(url, keeping: true) else { return nil }
        return (file, url.appendingPathExtension("json"))
    }

    /// Whether the rest can be requested.
    var canResume: Bool { rest != nil }

    /// The part that is missing. `nil`: the whole file is.
    var rest: Download.ByteRange? {
        guard length > 0, let validator = record.validator else { return nil }
        return Download.ByteRange(first: length, validator: validator)
    }

    /// Whether the file has all bytes, as far as is known.
    var isWhole: Bool { record.total.map { $0 == length } ?? isLastPart }

    /// Whether a response to a request may continue the file. Within one call the request is the same, also where an
    /// interceptor signs its URL anew.
    func isOf(request: String?, session: String?) -> Bool {
        record.session == session && (!isOfEarlierCall || record.request == request)
    }

    /// Goes on with a response. Where the whole length is not known, the response may have all that is left.
    mutating func `continue`(total: Int64?, isLast: Bool = true) {
        record.total = total ?? record.total
        (isOfEarlierCall, isLastPart) = (false, isLast)
    }

    /// Starts again with an empty file.
    mutating func restart(request: String?, validator: String?, total: Int64?, session: String?) throws {
        try file.cut(to: 0)
        length = 0
        record = Record(request: request, validator: validator, total: total, session: session)
        (isOfEarlierCall, isLastPart) = (false, true)
        try? removeRecord()
    }

    /// The bytes are of no use to a later call.
    mutating func forget() { record.validator = nil }

    mutating func append(_ piece: Data) throws {
        try file.append(piece)
        length += Int64(piece.count)
        if recordURL != nil, length - record.length >= Self.recordInterval { try writeRecord() }
    }

    /// Puts the whole file in its place.
    func commit(to target: URL) throws {
        try file.commit(to: target)
        try? removeRecord()
    }

    /// Puts the whole file into a folder, under a name that no other file has.
    func commit(into folder: URL, as name: String) throws -> URL {
        let url = try ReplacementFile.reserve(name, in: folder)
        do {
            try commit(to: url)
        } catch {
            try? FileManager.default.removeItem(at: url)
            throw error
        }
        return url
    }

    /// Ends without the whole file.
    mutating func abandon(keeping keeps: Bool) {
        if keeps, recordURL != nil, canResume {
            // On a full disk, the last record that could be written still describes the bytes before it.
            if (try? writeRecord()) != nil || record.length > 0 { return }
        }
        file.discard()
        try? removeRecord()
    }

    /// The bytes are on the disk before the record says so.
    private mutating func writeRecord() throws {
        guard let recordURL, record.validator != nil else { return }
        try file.synchronize()
        var record = record
        record.length = length
        let copy = try ReplacementFile(beside: recordURL)
        do {
            try copy.append(try JSONEncoder().encode(record))
            try copy.commit(to: recordURL)
        } catch {
            copy.discard()
            throw error
        }
        self.record = record
    }

    private func removeRecord() throws { if let recordURL { try FileManager.default.removeItem(at: recordURL) } }
}

extension HTTPResponseHead {
    /// What proves later that the bytes belong to the same representation: a strong `ETag`, or a `Last-Modified` at
    /// least one second older than the response (RFC 9110 §8.8). `nil`: neither.
    var strongValidator: String? {
        if let tag = headers["ETag"] { return tag.hasPrefix("\"") ? tag : nil }
        guard let text = headers["Last-Modified"], let modified = HTTPDate(text)?.date, let serverDate,
            serverDate.timeIntervalSince(modified) >= 1
        else { return nil }
        return text
    }
}

/// The `Content-Range` of a part: `bytes 5-9/10` (RFC 9110 §14.4).
struct ContentRange: Equatable {
    let first: Int64
    let last: Int64
    /// `nil`: not known.
    let total: Int64?

    /// Reads a field's value. Fails for one that is invalid, or names no part (`bytes */10`).
    init?(_ field: String) {
        let form = /[ \t]*bytes[ \t]+([0-9]+)-([0-9]+)[ \t]*\/[ \t]*([0-9]+|\*)[ \t]*/.ignoresCase()
        guard let parts = field.wholeMatch(of: form)?.output, let first = Int64(parts.1), let last = Int64(parts.2),
            first <= last, last < .max  // no file ends after it
        else { return nil }
        total = Int64(parts.3)
        guard parts.3 == "*" || total.map({ $0 > last }) == true else { return nil }
        (self.first, self.last) = (first, last)
    }

    /// The length that a response without a part says: `bytes */10`. `nil`: the value is another one.
    static func total(ofUnsatisfied field: String) -> Int64? {
        let form = /[ \t]*bytes[ \t]+\*[ \t]*\/[ \t]*([0-9]+)[ \t]*/.ignoresCase()
        return field.wholeMatch(of: form).flatMap { Int64($0.output.1) }
    }
}
