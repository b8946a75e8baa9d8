#if os(Linux)
import AuthInterface
import Foundation

/// Whose item it is. Nothing of it is secret: the service keeps it in the clear.
struct KeyringAccount: Sendable {
    let application: String
    let account: String

    var attributes: [(name: String, value: String)] { [("application", application), ("account", account)] }
    var label: String { "Tokens of \(application) (\(account))" }
}

/// The item of one account: the rules of ``SecretServiceTokenStore``, on a thread that may be blocked.
struct Keyring: Sendable {
    let account: KeyringAccount

    /// How long one conversation may take.
    let limit: Duration

    private let envelope = TokenEnvelope()

    init(account: KeyringAccount, limit: Duration) {
        self.account = account
        self.limit = limit
    }

    /// What is stored.
    func load() throws(TokenStoreError) -> TokenBundle? {
        switch newest(of: try talk(itemsIfUnlocked)) {
        case nil: return nil
        case .bundle(let bundle): return bundle
        case .newer(let version): throw newer(version)
        case .unreadable: throw corrupt
        }
    }

    /// Stores a bundle. `date` names the item that is set aside, if one is.
    ///
    /// The caller keeps other savers out.
    func save(_ bundle: TokenBundle, at date: Date) throws(TokenStoreError) {
        let data = try envelope.encode(bundle)
        let old = try talk(itemsIfUnlocked)
        switch newest(of: old) {
        case nil: break
        case .bundle(let stored): try bundle.checkMayReplace(stored)
        case .newer(let version): throw newer(version)
        case .unreadable: try setAside(old, at: date)
        }
        try talk { call throws(KeyringTrouble) in
            try store(data, as: account, call)
            // An item in another keyring, from when that one was the default, must not come back.
            for item in try itemsIfUnlocked(call) where item.secret != data { try call.delete(item) }
        }
    }

    /// Removes what is stored.
    func delete() throws(TokenStoreError) {
        try talk { call throws(KeyringTrouble) in
            for item in try itemsIfUnlocked(call) { try call.delete(item) }
        }
    }

    /// The items of the account, if it is certain that these are all and that each can be read.
    ///
    /// A locked keyring may hide its items, and then answers as if there were none (G14).
    private func itemsIfUnlocked(_ call: KeyringCall) throws(KeyringTrouble) -> [KeyringCall.Item] {
        let items = try call.items(of: account)
        if items.contains(where: { $0.secret == nil }) { throw .locked }
        if items.isEmpty, try call.isDefaultKeyringLocked() == true { throw .locked }
        return items
    }

    private func store(_ data: Data, as account: KeyringAccount, _ call: KeyringCall) throws(KeyringTrouble) {
        // Asked first, because a locked or missing keyring makes the service ask the user, and wait.
        guard let isLocked = try call.isDefaultKeyringLocked() else { throw .absent }
        if isLocked { throw .locked }
        try call.store(data, as: account)
    }

    private func setAside(_ items: [KeyringCall.Item], at date: Date) throws(TokenStoreError) {
        let suffix = date.formatted(.iso8601.dateSeparator(.omitted).timeSeparator(.omitted))
        for (number, item) in items.enumerated() {
            let name = "\(account.account).corrupt-\(suffix)" + (number == 0 ? "" : "-\(number + 1)")
            let aside = KeyringAccount(application: account.application, account: name)
            try talk { call throws(KeyringTrouble) in try store(item.secret ?? Data(), as: aside, call) }
        }
    }

    /// What the item that was written last says. There is more than one only when the default keyring was changed.
    private func newest(of items: [KeyringCall.Item]) -> TokenEnvelope.Reading? {
        items.max { $0.modified < $1.modified }?.secret.map { envelope.decode($0) }
    }

    /// Has a conversation, and a second one if the first fails: a connection from before the service was started anew
    /// is good for nothing but to find that out. All that is asked for may be asked for twice.
    private func talk<Value>(
        _ conversation: (KeyringCall) throws(KeyringTrouble) -> Value
    ) throws(TokenStoreError) -> Value {
        guard let library = LibSecret.installed else {
            throw unavailable("libsecret-1.so.0 is not installed; on Debian: apt install libsecret-1-0")
        }
        let start = ContinuousClock.now
        do {
            return try conversation(KeyringCall(library, limit: limit))
        } catch .failed where start + limit > .now {
            library.disconnect()
        } catch {
            throw unavailable(error)
        }
        do {
            return try conversation(KeyringCall(library, limit: limit))
        } catch {
            library.disconnect()
            throw unavailable(error)
        }
    }

    private func unavailable(_ trouble: KeyringTrouble) -> TokenStoreError {
        switch trouble {
        case .failed(let words): unavailable("the Secret Service did not answer: \(words)")
        case .locked: unavailable("the keyring is locked; unlock it, as a login with a password does")
        case .absent: unavailable("there is no default keyring; make one, for instance in Passwords and Keys")
        }
    }

    private func unavailable(_ reason: String) -> TokenStoreError {
        TokenStoreError(.unavailable, reason: reason)
    }

    private var corrupt: TokenStoreError {
        TokenStoreError(
            .corrupt,
            reason: "the item \"\(account.label)\" of the keyring has no tokens in it; it is left as it is until you "
                + "sign in again, and then set aside"
        )
    }

    private func newer(_ version: Int) -> TokenStoreError {
        TokenStoreError(
            .unsupportedVersion,
            reason: "the item \"\(account.label)\" of the keyring has version \(version) of the format; update this "
                + "program, or sign out to remove the item"
        )
    }
}
#endif
