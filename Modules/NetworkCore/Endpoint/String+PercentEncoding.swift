import Foundation

extension String {
    /// The text as UTF-8, percent-encoded except for the unreserved characters of RFC 3986 §2.3.
    ///
    /// It is safe as one path segment, one query name or one query value, except for `.` and `..`, which no encoding
    /// makes safe.
    var percentEncodedComponent: String {
        percentEncoded { $0.isUnreserved }
    }

    /// The text, percent-encoded except for the characters that are allowed in a path (RFC 3986 §3.3), such as `/`.
    var percentEncodedPath: String {
        percentEncoded { $0.isUnreserved || $0.isPathPunctuation }
    }

    private func percentEncoded(except isAllowed: (UInt8) -> Bool) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(utf8.count)
        for byte in utf8 {
            if isAllowed(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), byte.highHexDigit, byte.lowHexDigit]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension UInt8 {
    fileprivate var isUnreserved: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default:
            "-._~".utf8.contains(self)
        }
    }

    fileprivate var isPathPunctuation: Bool { "/!$&'()*+,;=:@".utf8.contains(self) }

    fileprivate var highHexDigit: UInt8 { Self.hexDigits[Int(self >> 4)] }

    fileprivate var lowHexDigit: UInt8 { Self.hexDigits[Int(self & 15)] }

    private static let hexDigits = Array("0123456789ABCDEF".utf8)
}
