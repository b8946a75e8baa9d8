import AuthInterface
import Foundation

/// What a file or folder must be before a token is read from it or written beside it.
///
/// Nothing here is ever mended silently: whoever could read a token once may have done so, and only its owner can say
/// whether that matters. Each refusal names the one command that mends it.
enum FileSafety {
    case folder
    case file

    private var type: mode_t {
        switch self {
        case .folder: S_IFDIR
        case .file: S_IFREG
        }
    }

    private var mode: String {
        switch self {
        case .folder: "700"
        case .file: "600"
        }
    }

    /// Checks the type and the owner.
    ///
    /// - Throws: ``TokenStoreError`` with code `insecure`.
    func checkOwner(_ status: stat, _ path: String) throws(TokenStoreError) {
        let shown = path.quotedForShell
        guard status.st_mode & S_IFMT == type else {
            let kind = self == .folder ? "a folder" : "a regular file"
            throw insecure("\(path) is not \(kind); move it away: mv \(shown) \((path + ".old").quotedForShell)")
        }
        guard status.st_uid == geteuid() else {
            throw insecure("\(path) belongs to user \(status.st_uid); take it over: sudo chown \(geteuid()) \(shown)")
        }
    }

    /// Checks that nobody but the owner has any right. Where there are access control lists, the group's bits of the
    /// mode are the upper bound of what they grant.
    ///
    /// - Throws: ``TokenStoreError`` with code `insecure`.
    func checkMode(_ status: stat, _ path: String) throws(TokenStoreError) {
        let permissions = status.st_mode & 0o777
        guard permissions & 0o077 == 0 else {
            let octal = String(permissions, radix: 8)
            throw insecure("others have rights on \(path) (mode \(octal)); run: chmod \(mode) \(path.quotedForShell)")
        }
    }

    /// The refusal to follow a symbolic link: whoever may change the link decides where tokens go.
    func symbolicLink(_ path: String) -> TokenStoreError {
        let kind = self == .folder ? "the folder" : "the file"
        return insecure("\(path) is a symbolic link; put \(kind) itself there: rm \(path.quotedForShell)")
    }

    private func insecure(_ reason: String) -> TokenStoreError {
        TokenStoreError(.insecure, reason: reason)
    }
}

extension String {
    /// The text as one word of a shell command.
    var quotedForShell: String {
        let plain = CharacterSet(charactersIn: "/._%+-@:").union(.alphanumerics)
        if !isEmpty && unicodeScalars.allSatisfy({ plain.contains($0) && $0.isASCII }) { return self }
        return "'" + replacingOccurrences(of: "'", with: "'\\''") + "'"
    }
}
