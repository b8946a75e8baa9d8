import ConcurrencyPrimitives
import Foundation

/// One process on one host, or one engine in it. Earlier and later processes with the same number have another
/// identity.
public struct ProcessIdentity: Sendable, Hashable, Codable {
    /// The running system. It changes when the host restarts.
    public let host: String

    /// The process on it.
    public let process: String

    /// Creates an identity.
    public init(host: String, process: String) {
        self.host = host
        self.process = process
    }

    /// This process.
    public static let current = ProcessIdentity(
        host: currentHost, process: "\(ProcessInfo.processInfo.processIdentifier)-\(UUID().uuidString.prefix(8))")

    private static let engines = Locked(0)

    /// Another engine of this process. A process may have several over one store, and the call of each may be under way
    /// when another one holds the lease.
    package static func newEngine() -> ProcessIdentity {
        let number = engines.withLock { count in
            count += 1
            return count
        }
        return ProcessIdentity(host: current.host, process: "\(current.process).\(number)")
    }

    /// Whether an identity is this process, or an engine in it. A store that records which processes have claimed its
    /// lease finds the owner of an intent by it.
    package func includes(_ other: ProcessIdentity) -> Bool {
        host == other.host && (process == other.process || other.process.hasPrefix(process + "."))
    }

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
