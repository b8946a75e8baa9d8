import Foundation

/// A listening socket on a free port of 127.0.0.1.
struct LoopbackListener: Sendable {
    let port: UInt16
    private let descriptor: Int32

    init() throws {
        let descriptor = try makeSocket()
        var address = sockaddr_in.loopback(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = address.withSocketAddress { address in
            bind(descriptor, address, length) == 0 && listen(descriptor, 1_024) == 0
                && getsockname(descriptor, address, &length) == 0
        }
        guard isListening else {
            closeSocket(descriptor)
            throw POSIXError(.EADDRNOTAVAIL)
        }
        self.descriptor = descriptor
        port = UInt16(bigEndian: address.sin_port)
    }

    /// Waits for a connection, and returns its descriptor: `nil` when the system has none left.
    func accept() -> Int32? {
        var accepted: Int32
        repeat { accepted = acceptSocket(descriptor) } while accepted < 0 && errno == EINTR
        return accepted < 0 ? nil : accepted
    }

    /// Makes ``accept()`` return, with a connection that sends nothing. Shutting the socket down would not do it on
    /// Apple's systems.
    func wake() {
        guard let descriptor = try? makeSocket() else { return }
        var address = sockaddr_in.loopback(port: port)
        _ = address.withSocketAddress { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        closeSocket(descriptor)
    }

    func close() { closeSocket(descriptor) }
}

private func makeSocket() throws -> Int32 {
    #if canImport(Glibc)
    let kind = Int32(SOCK_STREAM.rawValue)
    #else
    let kind = SOCK_STREAM
    #endif
    let descriptor = socket(AF_INET, kind, 0)
    guard descriptor >= 0 else { throw POSIXError(.EMFILE) }
    keepFromChildren(descriptor)
    return descriptor
}

private func acceptSocket(_ descriptor: Int32) -> Int32 {
    let accepted = accept(descriptor, nil, nil)
    guard accepted >= 0 else { return accepted }
    keepFromChildren(accepted)
    #if canImport(Darwin)
    var isOn: Int32 = 1
    setsockopt(accepted, SOL_SOCKET, SO_NOSIGPIPE, &isOn, socklen_t(MemoryLayout<Int32>.size))
    #endif
    return accepted
}

/// A child process that inherited a socket would keep its connection open after it has been closed here.
private func keepFromChildren(_ descriptor: Int32) { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }

func closeSocket(_ descriptor: Int32) { _ = close(descriptor) }

/// Writes all bytes. Returns `false` when the peer has closed the connection.
func sendBytes(_ data: Data, to descriptor: Int32) -> Bool {
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

extension sockaddr_in {
    fileprivate static func loopback(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    fileprivate mutating func withSocketAddress<Result>(_ body: (UnsafeMutablePointer<sockaddr>) -> Result) -> Result {
        withUnsafeMutablePointer(to: &self) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1, body)
        }
    }
}
