import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// Where uploads are written while they arrive, and how many bytes of them there may be.
struct UploadFolder: Sendable {
    private static let prefix = ".latchkey-upload-"

    private let path: String
    private let budget: ByteBudget

    /// Prepares the folder, and removes the names that a killed server has left.
    ///
    /// A file has a name for the moment of its creation only, so no file of a running server can lose its content.
    ///
    /// - Throws: `CocoaError` when the folder cannot be created or read.
    init(_ path: String, budget: ByteBudget) throws {
        self.path = path
        self.budget = budget
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        for name in try FileManager.default.contentsOfDirectory(atPath: path) where name.hasPrefix(Self.prefix) {
            unlink("\(path)/\(name)")
        }
    }

    /// Creates an empty file.
    ///
    /// - Throws: `UPLOAD_SPACE_EXHAUSTED`.
    func makeFile() async throws -> UploadFile {
        let name = "\(path)/\(Self.prefix)\(UUID().uuidString)"
        return try await NIOThreadPool.singleton.runIfActive {
            let descriptor = open(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw APIError.uploadSpaceExhausted }
            let file = UploadFile(descriptor, ByteBudget.Reservation(budget))
            guard unlink(name) == 0 || errno == ENOENT else { throw APIError.uploadSpaceExhausted }
            return file
        }
    }
}

/// A file without a name: the system removes it when it is closed, also when the server is killed.
final class UploadFile: Sendable {
    private let descriptor: Int32
    private let reservation: ByteBudget.Reservation
    private let written = NIOLockedValueBox(0)

    fileprivate init(_ descriptor: Int32, _ reservation: ByteBudget.Reservation) {
        self.descriptor = descriptor
        self.reservation = reservation
    }

    deinit { close(descriptor) }

    /// The number of bytes.
    var count: Int { written.withLockedValue { $0 } }

    /// Adds bytes at the end. One call at a time.
    ///
    /// - Throws: `UPLOAD_SPACE_EXHAUSTED` above the budget, or on a full disk.
    func append(_ data: Data) async throws {
        let start = count
        guard reservation.grow(to: start + data.count) else { throw APIError.uploadSpaceExhausted }
        try await NIOThreadPool.singleton.runIfActive { try self.write(data, at: start) }
        written.withLockedValue { $0 = start + data.count }
    }

    private func write(_ data: Data, at start: Int) throws {
        try data.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
                let count = pwrite(descriptor, rest.baseAddress, rest.count, off_t(start + done))
                guard count > 0 || count < 0 && errno == EINTR else { throw APIError.uploadSpaceExhausted }
                done += max(count, 0)
            }
        }
    }

    /// The content, mapped: it takes memory of the system's cache only. The file may be released before it.
    ///
    /// - Throws: `UPLOAD_SPACE_EXHAUSTED` when the system has no address space left.
    func mapped() throws -> Data {
        let count = count
        guard count > 0 else { return Data() }
        guard let start = mmap(nil, count, PROT_READ, MAP_PRIVATE, descriptor, 0), start != MAP_FAILED else {
            throw APIError.uploadSpaceExhausted
        }
        return Data(bytesNoCopy: start, count: count, deallocator: .unmap)
    }
}
