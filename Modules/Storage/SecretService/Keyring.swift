#if os(Linux)
import AuthInterface
import Foundation

/// The account an item belongs to. Nothing of it is secret: the service keeps it in clear text.
struct KeyringAccount: Sendable {
    let application: String
    let account: String

    var attributes: [(name: String, value: String)] { [("application", application), ("account", account)] }
    var label: String { "Tokens of \(application) (\(account))" }
}

/// The item of one account: the rules of ``SecretServiceTokenStore``, on a thread that may be blocked.
///
/// Each call gives up at a deadline. After it, nothing more is asked of the service.
struct Keyring: Sendable {
    let account: KeyringAccount

    private let envelope = TokenEnvelope()

    init(account: KeyringAccount) {
        self.account = account
    }

    /// What is stored.
    func read(until deadline: ContinuousClock.Instant) throws(TokenStoreError) -> StoredSession {
        try session(of: try talk(until: deadline, items))
    }

    /// Reads, decides and writes. The caller keeps other writers out.
    ///
    /// - Returns: Whether something was written.
    func update(
        until deadline: ContinuousClock.Instant,
        _ change: (Result<StoredSession, TokenStoreError>) -> StoredSession?
    ) throws(TokenStoreError) -> Bool {
        let old = try talk(until: deadline, items)
        let found: Result<StoredSession, TokenStoreError>
        do {
            found = .success(try session(of: old))
        } catch {
            guard error.code == .corrupt else { throw error }
            found = .failure(error)
        }
        guard let new = change(found) else { return false }
        guard new != .empty else {
            try delete(until: deadline)
            return true
        }
        let data = try envelope.encode(new)
        try talk(until: deadline) { call throws(KeyringError) in
            try checkDefaultKeyring(call)
            try call.store(data, as: account)
            // An item in another keyring, from when that one was the default, must not come back.
            for item in try readableItems(call) where item.secret != data { try call.delete(item) }
        }
        return true
    }

    /// Removes what is stored, without reading it as a session. The caller keeps other writers out.
    func delete(until deadline: ContinuousClock.Instant) throws(TokenStoreError) {
        try talk(until: deadline) { call throws(KeyringError) in
            for item in try items(call) { try call.delete(item) }
        }
    }

    /// The items of the account, if it is certain that these are all and that each can be read.
    ///
    /// A locked keyring may hide its items, and then answers as if there were none (G14). Where there is no default
    /// keyring, the disk with the keyrings may be missing. A look-up says none in both cases, and a write would fail:
    /// so the default keyring is looked at first, and reads and writes are refused alike.
    private func items(_ call: KeyringCall) throws(KeyringError) -> [KeyringCall.Item] {
        try checkDefaultKeyring(call)
        return try readableItems(call)
    }

    private func readableItems(_ call: KeyringCall) throws(KeyringError) -> [KeyringCall.Item] {
        let items = try call.items(of: account)
        if items.contains(where: { $0.secret == nil }) { throw .locked }
        return items
    }

    /// Checks that the default keyring is there and open. A service that is asked to write without one asks the user,
    /// and waits.
    private func checkDefaultKeyring(_ call: KeyringCall) throws(KeyringError) {
        guard let isLocked = try call.isDefaultKeyringLocked() else { throw .absent }
        if isLocked { throw .locked }
    }

    /// What the item that was written last says. There is more than one only when the default keyring was changed.
    private func session(of items: [KeyringCall.Item]) throws(TokenStoreError) -> StoredSession {
        guard let data = items.max(by: { $0.modified < $1.modified })?.secret else { return .empty }
        do {
            return try envelope.decode(data)
        } catch {
            throw unreadable(error)
        }
    }

    /// Has a conversation, and a second one if the first fails: a connection from before a restart of the service fails
    /// once. Everything that is asked for may be asked for twice.
    private func talk<Value>(
        until deadline: ContinuousClock.Instant,
        _ conversation: (KeyringCall) throws(KeyringError) -> Value
    ) throws(TokenStoreError) -> Value {
        guard let library = LibSecret.installed else {
            throw unavailable("libsecret-1.so.0 is not installed; on Debian: apt install libsecret-1-0")
        }
        do {
            return try converse(library, until: deadline, conversation)
        } catch .failed where .now < deadline {
            library.disconnect()
        } catch {
            throw unavailable(error)
        }
        do {
            return try converse(library, until: deadline, conversation)
        } catch {
            library.disconnect()
            throw unavailable(error)
        }
    }

    /// The caller was told that nothing was written when the deadline has passed, so nothing is.
    private func converse<Value>(
        _ library: LibSecret,
        until deadline: ContinuousClock.Instant,
        _ conversation: (KeyringCall) throws(KeyringError) -> Value
    ) throws(KeyringError) -> Value {
        let rest = deadline - .now
        guard rest > .zero else { throw .failed("its time has passed") }
        return try conversation(KeyringCall(library, limit: rest))
    }

    private func unavailable(_ error: KeyringError) -> TokenStoreError {
        switch error {
        case .failed(let words): unavailable("the Secret Service did not answer: \(words)")
        case .locked: unavailable("the keyring is locked; unlock it, as a login with a password does")
        case .absent: unavailable("there is no default keyring; make one, for instance in Passwords and Keys")
        }
    }

    private func unavailable(_ reason: String) -> TokenStoreError {
        TokenStoreError(.unavailable, reason: reason)
    }

    private func unreadable(_ error: TokenStoreError) -> TokenStoreError {
        let remedy =
            switch error.code {
            case .corrupt: "the next sign-in replaces it"
            case .unsupportedVersion: "update this program, or sign out to remove the item"
            default: "try again later"
            }
        let what = "the item \"\(account.label)\" of the keyring cannot be read: \(error.reason); \(remedy)"
        return TokenStoreError(error.code, reason: what)
    }
}
#endif
