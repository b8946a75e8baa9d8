#if PostgreSQL
import AuthInterface
import ConcurrencyPrimitives
import Foundation

/// A server that offers no TLS, on an address of this host that is not loopback. It records what it receives.
final class PlainServer: Sendable {
    /// An IPv4 address of this host that is not loopback.
    static let address: String? = {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return nil }
        defer { freeifaddrs(first) }
        return sequence(first: first, next: { $0?.pointee.ifa_next }).prefix { $0 != nil }.lazy
            .compactMap { $0?.pointee.ifa_addr }
            .filter { $0.pointee.sa_family == sa_family_t(AF_INET) }
            .compactMap { pointer -> String? in
                let address = pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { $0.pointee.sin_addr }
                let text = withUnsafeBytes(of: address.s_addr) { $0.map(String.init).joined(separator: ".") }
                return text.hasPrefix("127.") ? nil : text
            }
            .first
    }()

    let host: String
    let port: UInt16

    private let listener: Int32
    private let messages = Locked<[[UInt8]]>([])

    /// What each connection has sent.
    var received: [[UInt8]] { messages.withLock { $0 } }

    init() throws {
        host = Self.address ?? ""
        #if canImport(Glibc)
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        listener = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        inet_pton(AF_INET, host, &address.sin_addr)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) == 0 && listen(listener, 8) == 0 && getsockname(listener, $0, &size) == 0
            }
        }
        guard isBound else { throw POSIXError(.EADDRNOTAVAIL) }
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [messages] in
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { return }
                let bytes = Self.converse(connection)
                messages.withLock { $0.append(bytes) }
                close(connection)
            }
        }
    }

    deinit {
        shutdown(listener, Int32(2))  // SHUT_RDWR: the thread's accept returns
        close(listener)
    }

    /// Refuses TLS, and reads until the client closes the connection.
    private static func converse(_ connection: Int32) -> [UInt8] {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = read(connection, &buffer, buffer.count)
            guard count > 0 else { return all }
            if all.isEmpty {
                var no = UInt8(ascii: "N")
                _ = write(connection, &no, 1)
            }
            all += buffer[..<count]
        }
    }
}
#endif
