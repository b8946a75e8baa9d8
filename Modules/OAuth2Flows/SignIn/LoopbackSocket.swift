#if canImport(CryptoKit) || Crypto
import ConcurrencyPrimitives
import Foundation

/// A socket that listens on one address of loopback until it is released.
final class LoopbackSocket: Sendable {
    /// The addresses to which a browser may connect for a host of a redirect URI (RFC 8252 §7.3, §8.3). A program that
    /// had one of the two of `localhost` could receive the code.
    static let addresses = ["127.0.0.1": ["127.0.0.1"], "[::1]": ["::1"], "localhost": ["127.0.0.1", "::1"]]

    private let open: Locked<Int32?>
    let descriptor: Int32
    let port: UInt16

    /// Listens on one address, at a port that the system chooses where it is 0.
    init(_ address: String, at port: UInt16, backlog: Int32) throws(POSIXError) {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST
        #if canImport(Glibc)
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
        hints.ai_socktype = SOCK_STREAM
        #endif
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(address, "\(port)", &hints, &found) == 0, let place = found?.pointee else {
            throw POSIXError(.EADDRNOTAVAIL)
        }
        defer { freeaddrinfo(found) }
        let descriptor = socket(place.ai_family, place.ai_socktype, 0)
        // The connections of an earlier sign-in would keep a port from the next one for a minute.
        var isReused: Int32 = port == 0 ? 0 : 1
        // The port has the same place in the address of either family.
        var bound = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let isListening = withUnsafeMutablePointer(to: &bound) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                descriptor >= 0 && fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0
                    && fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0
                    && setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isReused, socklen_t(MemoryLayout<Int32>.size))
                        == 0
                    && bind(descriptor, place.ai_addr, place.ai_addrlen) == 0 && listen(descriptor, backlog) == 0
                    && getsockname(descriptor, pointer, &length) == 0
            }
        }
        guard isListening else {
            let code = errno
            if descriptor >= 0 { close(descriptor) }
            throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO)
        }
        self.descriptor = descriptor
        open = Locked(descriptor)
        self.port = UInt16(bigEndian: bound.sin6_port)
    }

    /// Stops listening: the port can be used again at once.
    func stop() { if let descriptor = open.withLock({ $0.take() }) { close(descriptor) } }

    deinit { stop() }

    /// Listens on every address at one port. An address that this device lacks is left out: no other program has it.
    ///
    /// - Throws: The error of an address where the port is taken; the last one where the device has no address.
    static func all(of addresses: [String], at port: UInt16, backlog: Int32) throws(POSIXError) -> [LoopbackSocket] {
        var sockets: [LoopbackSocket] = []
        var failure: POSIXError?
        for address in addresses {
            do {
                sockets.append(try LoopbackSocket(address, at: sockets.first?.port ?? port, backlog: backlog))
            } catch {
                guard [.EADDRNOTAVAIL, .EAFNOSUPPORT].contains(error.code) else { throw error }
                failure = error
            }
        }
        if sockets.isEmpty, let failure { throw failure }
        return sockets
    }
}
#endif
