import AuthInterface
import Foundation

/// Tells the processes that share an item that it may have changed.
protocol ChangeSignal: Sendable {
    /// Tells all processes that listen, this one included.
    func post()

    /// The reports from now on. A stream that ends at once means that the system has none.
    var reports: AsyncStream<Void> { get }
}

/// The name under which the processes that share an item tell each other of a change.
///
/// The names of Darwin notifications are visible to all programs of a device, so this one shows neither the service nor
/// the account. Two items that should have the same name by chance cause reports too many, which do no harm.
enum ChangeName {
    static func of(_ location: KeychainLocation) -> String {
        let parts = [location.service, location.account, location.accessGroup ?? "", "\(location.keychain)"]
        // FNV-1a with 64 bits: the same in every process and every version, which Swift's own hash is not.
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in parts.joined(separator: "\u{0}").utf8 {
            hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
        }
        return "latchkey.tokens-changed." + String(hash, radix: 16)
    }
}

/// No reports, for systems without Darwin notifications.
struct AbsentChangeSignal: ChangeSignal {
    func post() {}

    var reports: AsyncStream<Void> { AsyncStream { $0.finish() } }
}
