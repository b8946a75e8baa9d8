import Foundation

/// An archive of `NSKeyedArchiver` in its XML form: Linux's archiver writes no object under the name of another class.
struct KeyedArchive {
    indirect enum Value: ExpressibleByStringLiteral {
        case null
        case flag(Bool)
        case text(String)
        case date(Date)
        case object(String, [String: Value])

        init(stringLiteral text: String) { self = .text(text) }
    }

    private var objects = ["<string>$null</string>"]

    static func data(_ root: Value) -> Data {
        var archive = KeyedArchive()
        let root = archive.reference(to: root)
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0"><dict>
            <key>$version</key><integer>100000</integer><key>$archiver</key><string>NSKeyedArchiver</string>
            <key>$top</key><dict><key>root</key>\(root)</dict>
            <key>$objects</key><array>\(archive.objects.joined())</array>
            </dict></plist>
            """
        return Data(text.utf8)
    }

    /// A flag is written where it is used, everything else into the table of objects.
    private mutating func reference(to value: Value) -> String {
        switch value {
        case .null: return uid(0)
        case .flag(let flag): return flag ? "<true/>" : "<false/>"
        case .text(let text): return add("<string>\(text)</string>")
        case .date(let date):
            let seconds = "<key>NS.time</key><real>\(date.timeIntervalSinceReferenceDate)</real>"
            return add("<dict>\(seconds)<key>$class</key>\(reference(toClass: "NSDate"))</dict>")
        case .object(let name, let members):
            let written = members.sorted { $0.key < $1.key }.map { "<key>\($0.key)</key>\(reference(to: $0.value))" }
            return add("<dict>\(written.joined())<key>$class</key>\(reference(toClass: name))</dict>")
        }
    }

    private mutating func reference(toClass name: String) -> String {
        let names = "<array><string>\(name)</string><string>NSObject</string></array>"
        return add("<dict><key>$classname</key><string>\(name)</string><key>$classes</key>\(names)</dict>")
    }

    private mutating func add(_ object: String) -> String {
        objects.append(object)
        return uid(objects.count - 1)
    }

    private func uid(_ index: Int) -> String { "<dict><key>CF$UID</key><integer>\(index)</integer></dict>" }
}
