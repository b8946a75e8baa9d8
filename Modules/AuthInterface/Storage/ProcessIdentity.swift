import Foundation

/// One process on one host. Earlier and later processes with the same number have another identity.
public struct ProcessIdentity: Sendable, Hashable, Codable {
    /// The running system. It changes when the host restarts.
    public let host: String

    /// The process on it.
    public let process: String

    /// Creates an identity.
    ///
    /// - Parameters:
    ///   - host: The running system.
    ///   - process: The process on it.
    public init(host: String, process: String) {
        self.host = host
        self.process = process
    }

    /// This process.
    public static let current = ProcessIdentity(
        host: currentHost,
        process: "\(ProcessInfo.processInfo.processIdentifier)-\(UUID().uuidString.prefix(8))"
    )

    /// Names the running kernel: it alone releases the locks of its processes.
    private static var currentHost: String {
        #if canImport(Darwin)
        var size = 0
        sysctlbyname("kern.bootsessionuuid", nil, &size, nil, 0)
        var bytes = [UInt8](repeating: 0, count: max(size, 1))
        if sysctlbyname("kern.bootsessionuuid", &bytes, &size, nil, 0) == 0 {
            return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        #else
        if let id = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8) {
            return id.trimmingCharacters(in: .whitespacesAndNewlines)
        }
        #endif
        return ProcessInfo.processInfo.hostName
    }
}

extension ProcessIdentity: CustomStringConvertible {
    /// The process, as a log shows it.
    public var description: String { process }
}
