#if os(Linux)
import AuthInterface

/// The account of an item. The service stores it unencrypted.
struct KeyringAccount: Sendable {
    let application: String
    let account: String

    var attributes: [(name: String, value: String)] { [("application", application), ("account", account)] }
    var label: String { "Tokens of \(application) (\(account))" }
}

/// The item of one account: the blocking calls of ``SecretServiceTokenStore``.
///
/// Each call ends at its deadline, and does not use the service after it.
struct Keyring: Sendable {
    let account: KeyringAccount

    func read(until deadline: ContinuousClock.Instant) throws(TokenStoreError) -> StoredSession {
        try session(of: try withService(until: deadline, items))
    }

    /// Reads, decides and writes. The caller holds the write lock. Returns whether something was written.
    func update(until deadline: ContinuousClock.Instant, _ change: StoreChange) throws(TokenStoreError) -> Bool {
        let old = try withService(until: deadline, items)
        let found = Result { () throws(TokenStoreError) in try session(of: old) }
        if case .failure(let error) = found, error.code != .corrupt { throw error }
        guard let new = change(found) else { return false }
        guard new != .empty else {
            try delete(until: deadline)
            return true
        }
        let data = try TokenEnvelope.encode(new)
        try withService(until: deadline) { call throws(KeyringError) in
            try checkDefaultKeyring(call)
            try call.store(data, as: account)
            // An item in an earlier default keyring must not be found again.
            for item in try readableItems(call) where item.secret != data { try call.delete(item) }
        }
        return true
    }

    /// Removes what is stored, without decoding it. The caller holds the write lock.
    func delete(until deadline: ContinuousClock.Instant) throws(TokenStoreError) {
        try withService(until: deadline) { call throws(KeyringError) in
            for item in try items(call) { try call.delete(item) }
        }
    }

    /// All items of the account. It throws if that is not certain, or if one of them cannot be read.
    ///
    /// A search in a locked keyring finds nothing (G14). If the default keyring is missing, its disk may not be
    /// mounted. So the default keyring is checked first, for reads and for writes.
    private func items(_ call: KeyringCall) throws(KeyringError) -> [KeyringCall.Item] {
        try checkDefaultKeyring(call)
        return try readableItems(call)
    }

    private func readableItems(_ call: KeyringCall) throws(KeyringError) -> [KeyringCall.Item] {
        let items = try call.items(of: account)
        if items.contains(where: { $0.secret == nil }) { throw .locked }
        return items
    }

    /// Checks that the default keyring exists and is unlocked. Without one, a write would open a dialog and wait.
    private func checkDefaultKeyring(_ call: KeyringCall) throws(KeyringError) {
        guard let isLocked = try call.isDefaultKeyringLocked() else { throw .absent }
        if isLocked { throw .locked }
    }

    /// The session in the item that was written last. There are several items only if the default keyring was changed.
    private func session(of items: [KeyringCall.Item]) throws(TokenStoreError) -> StoredSession {
        guard let data = items.max(by: { $0.modified < $1.modified })?.secret else { return .empty }
        return try TokenEnvelope.decode(data, in: "the item \"\(account.label)\" of the keyring")
    }

    /// Makes calls, and makes them again if they fail: after a restart of the service, an old connection fails once.
    /// The calls may be made twice.
    private func withService<Value>(
        until deadline: ContinuousClock.Instant, _ body: (KeyringCall) throws(KeyringError) -> Value
    ) throws(TokenStoreError) -> Value {
        guard let library = LibSecret.installed else {
            throw unavailable("libsecret-1.so.0 is not installed; on Debian: apt install libsecret-1-0")
        }
        do {
            return try call(library, until: deadline, body)
        } catch .failed where .now < deadline {
            library.disconnect()
        } catch {
            throw unavailable(error)
        }
        do {
            return try call(library, until: deadline, body)
        } catch {
            library.disconnect()
            throw unavailable(error)
        }
    }

    /// Makes calls before the deadline. After it nothing may be written, because the caller has got an error.
    private func call<Value>(
        _ library: LibSecret, until deadline: ContinuousClock.Instant,
        _ body: (KeyringCall) throws(KeyringError) -> Value
    ) throws(KeyringError) -> Value {
        let rest = deadline - .now
        guard rest > .zero else { throw .failed("the time limit has passed") }
        return try body(KeyringCall(library, limit: rest))
    }

    private func unavailable(_ error: KeyringError) -> TokenStoreError {
        switch error {
        case .failed(let message): unavailable("the Secret Service failed: \(message)")
        case .silent(let what): unavailable("\(what); it may hang or wait for a dialog: try again later, or restart it")
        case .locked: unavailable("the keyring is locked; unlock it, for example by a login with the password")
        case .absent: unavailable("the default keyring is missing; create one, for example with Passwords and Keys")
        }
    }

    private func unavailable(_ reason: String) -> TokenStoreError { TokenStoreError(.unavailable, reason: reason) }
}

/// Why a call of the Secret Service failed.
enum KeyringError: Error {
    /// The message of the service. It never contains a secret.
    case failed(String)

    /// What did not respond before the time limit.
    case silent(String)

    /// The default keyring, or one with an item of the account, is locked.
    case locked

    /// The default keyring is missing.
    case absent
}
#endif
