#if AsyncHTTPClient
import Crypto
import Foundation
import NIOCore
import NIOSSL
import NetworkCore
import NetworkExchange

extension PublicKeyPins {
    /// Compares the key of a new connection with the pins of its host, then calls a closure. A connection with another
    /// key is closed.
    ///
    /// It is called on the connection's event loop, and its result must be there when it returns: AsyncHTTPClient ends
    /// the process when a server sends more settings, or that it goes away, before the connection is known to the pool.
    static func verify(
        _ channel: any Channel, against pins: Set<Data>?, then use: () throws -> Void
    ) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            do {
                if let pins { try verify(channel, against: pins) }
                try use()
            } catch {
                channel.close(promise: nil)
                throw error
            }
        }
    }

    private static func verify(_ channel: any Channel, against pins: Set<Data>) throws {
        let certificate = try? channel.pipeline.syncOperations.nioSSL_peerCertificate()
        guard let key = try certificate?.extractPublicKey().toSPKIBytes(),
            pins.contains(Data(SHA256.hash(data: key)))
        else {
            throw HTTPTransportError(.tlsFailed, reason: "the public key of the host is not one of its pins")
        }
    }
}
#endif
