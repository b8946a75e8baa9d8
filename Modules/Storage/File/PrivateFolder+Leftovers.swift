import Foundation

extension PrivateFolder {
    /// A name for a file that will soon be renamed to `name`.
    static func temporaryName(of name: String) -> String {
        name + temporaryInfix + String(UInt64.random(in: .min ... .max), radix: 16)
    }

    /// Removes the unfinished files of writers that were killed: they have tokens in them.
    ///
    /// The caller holds the lock for `name`, so that whoever wrote them is dead. One that cannot be removed now is
    /// left to the next call: it must not keep a token from being saved.
    func removeLeftovers(of name: String) {
        for leftover in names() where leftover.hasPrefix(name + Self.temporaryInfix) {
            unlinkat(descriptor.number, leftover, 0)
        }
    }

    private static var temporaryInfix: String { ".tmp-" }

    /// The names in the folder, or none if it cannot be listed.
    private func names() -> [String] {
        let number = openat(descriptor.number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { return [] }
        guard let listing = fdopendir(number) else {
            close(number)
            return []
        }
        defer { closedir(listing) }
        var names: [String] = []
        while let entry = readdir(listing) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: 1) { String(cString: $0) }
            }
            names.append(name)
        }
        return names
    }
}
