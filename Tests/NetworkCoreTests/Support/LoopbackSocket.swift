import Foundation

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A listening socket on a free port of 127.0.0.1.
struct LoopbackListener {
    let descriptor: Int32
    let port: UInt16

    init() throws {
        #if canImport(Darwin)
        let kind = SOCK_STREAM
        #else
        let kind = Int32(SOCK_STREAM.rawValue)
        #endif
        let descriptor = socket(AF_INET, kind, 0)
        guard descriptor >= 0 else { throw POSIXError(.EMFILE) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listening = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0
                    && listen(descriptor, 1_024) == 0
                    && getsockname(descriptor, address, &length) == 0
            }
        }
        guard listening else { throw POSIXError(.EADDRNOTAVAIL) }
        self.descriptor = descriptor
        port = UInt16(bigEndian: address.sin_port)
    }

    /// Waits for a connection. `nil`: the listener is shut down.
    func accept() -> LoopbackConnection? {
        #if canImport(Darwin)
        let accepted = Darwin.accept(descriptor, nil, nil)
        #else
        let accepted = Glibc.accept(descriptor, nil, nil)
        #endif
        return accepted < 0 ? nil : LoopbackConnection(descriptor: accepted)
    }

    func shutDown() {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }
}

/// One accepted connection, read and written by one thread.
struct LoopbackConnection {
    let descriptor: Int32

    /// Reads the bytes that have arrived. Empty: the connection has ended.
    func read() -> Data {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count > 0 ? Data(buffer[..<count]) : Data()
    }

    /// Writes everything.
    ///
    /// - Returns: `false` when the peer has closed the connection.
    @discardableResult
    func write(_ data: Data) -> Bool {
        #if canImport(Darwin)
        let flags: Int32 = 0
        #else
        let flags = Int32(MSG_NOSIGNAL)
        #endif
        return data.withUnsafeBytes { bytes in
            var sent = 0
            while sent < bytes.count {
                let count = send(descriptor, bytes.baseAddress?.advanced(by: sent), bytes.count - sent, flags)
                if count <= 0 { return false }
                sent += count
            }
            return true
        }
    }

    /// Ends the connection, so that a blocked read returns.
    func shutDown() {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    func closeNow() {
        close(descriptor)
    }
}
