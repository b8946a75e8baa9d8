package import Foundation

/// An accepted connection, read and written by one thread.
package struct LoopbackConnection: Sendable {
    private let descriptor: Int32

    init(descriptor: Int32) {
        self.descriptor = descriptor
        #if canImport(Darwin)
        var isOn: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &isOn, socklen_t(MemoryLayout<Int32>.size))
        #endif
    }

    /// Waits for bytes. Returns none at the end of the connection.
    package func read() -> Data {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count > 0 ? Data(buffer[..<count]) : Data()
    }

    /// Waits until the client has closed the connection, for a time at most. Bytes that have arrived end the wait.
    package func isClosed(within limit: Duration) -> Bool {
        var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&event, 1, Int32(limit / .milliseconds(1))) > 0 else { return false }
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_PEEK)) <= 0
    }

    /// Writes all bytes. Returns `false` when the client has closed the connection.
    @discardableResult
    package func write(_ data: Data) -> Bool {
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

    /// Makes ``close()`` reset the connection: the client loses what it has not read.
    package func resetWhenClosed() {
        var lingering = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &lingering, socklen_t(MemoryLayout<linger>.size))
    }

    /// Ends ``read()``, from any thread.
    package func shutDown() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    package func close() { closeSocket(descriptor) }
}
