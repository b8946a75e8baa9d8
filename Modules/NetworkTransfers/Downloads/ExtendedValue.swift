import NetworkCore

import struct Foundation.Data

/// Reads the value of a parameter whose name ends with `*`: `UTF-8''na%C3%AFve` (RFC 8187 §3.2).
enum ExtendedValue {
    /// Decodes a value. `nil`: it is invalid, or of another character set than UTF-8 and ISO-8859-1.
    static func decode(_ value: String) -> String? {
        let parts = value.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        return bytes(of: parts[2], escapedBy: "%").flatMap { text(of: $0, in: parts[0]) }
    }

    /// The bytes of a text in which an escape and two digits are one byte. `nil`: the digits are missing.
    fileprivate static func bytes(of text: Substring, escapedBy escape: Unicode.Scalar) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = text.utf8
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: escape) else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst()?.hexDigit, let low = rest.popFirst()?.hexDigit else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        return bytes
    }

    /// The text of bytes in UTF-8 or ISO-8859-1. `nil`: they are none, or of another character set.
    fileprivate static func text(of bytes: [UInt8], in characterSet: Substring) -> String? {
        switch characterSet.lowercased() {
        case "utf-8": String(validating: bytes, as: UTF8.self)
        case "iso-8859-1": String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        default: nil
        }
    }
}

extension FieldScanner {
    /// Reads the parameters of an item, with names in lower case. Of one that occurs twice, the first counts; one whose
    /// name ends with `*` is decoded. The items of a list may have parameters without a value.
    mutating func parameters(inList isList: Bool) -> [String: String] {
        var parameters: [String: String] = [:]
        while skip(UInt8(ascii: ";")) {
            guard let name = token()?.lowercased() else { continue }
            let hasValue = skip(UInt8(ascii: "="))
            guard let value = hasValue ? tokenOrQuotedString(inList: isList) : isList ? "" : nil else { break }
            guard parameters[name] == nil else { continue }
            parameters[name] = name.hasSuffix("*") ? ExtendedValue.decode(value) : value
        }
        return parameters
    }
}

/// Reads the words of a mail that some servers write into `filename`: `=?UTF-8?B?w7wucGRm?=` (RFC 2047 §2).
enum EncodedWord {
    /// Decodes the words of a text, and drops the blanks between two of them. A word that is invalid stays.
    static func decode(_ text: String) -> String {
        text.replacing(/(\?=)[ \t]+(?==\?)/) { $0.output.1 }
            .replacing(/=\?([^? ]+)\?([BbQq])\?([^? ]*)\?=/) { word in
                let (whole, characterSet, encoding, content) = word.output
                let bytes =
                    encoding.lowercased() == "b"
                    ? Data(base64Encoded: String(content)).map { Array($0) }
                    : ExtendedValue.bytes(of: content.replacing("_", with: " "), escapedBy: "=")
                return bytes.flatMap { ExtendedValue.text(of: $0, in: characterSet) } ?? String(whole)
            }
    }
}
