#if PostgreSQL
import Foundation

/// A value for a statement, in PostgreSQL's binary format. `nil` is SQL's null.
///
/// (In the text format a value is a C string, which ends at a zero byte.)
enum PostgreSQLValue: Sendable {
    case text(String?)
    case bytes(Data?)
    case integer(Int64?)
    case texts([String])
    case flag(Bool)

    /// PostgreSQL's number of the type: `text`, `bytea`, `int8`, `text[]`, `bool`.
    var type: UInt32 {
        switch self {
        case .text: 25
        case .bytes: 17
        case .integer: 20
        case .texts: 1_009
        case .flag: 16
        }
    }

    var encoded: [UInt8]? {
        switch self {
        case .text(let text): text.map { Array($0.utf8) }
        case .bytes(let data): data.map { Array($0) }
        case .integer(let number): number.map(Self.bigEndian)
        case .flag(let flag): [flag ? 1 : 0]
        case .texts(let texts):
            // One dimension, no nulls, elements of type `text`, their count, counted from 1.
            [1, 0, 25, Int32(texts.count), 1].flatMap(Self.bigEndian)
                + texts.flatMap { Self.bigEndian(Int32($0.utf8.count)) + Array($0.utf8) }
        }
    }

    private static func bigEndian(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }
}
#endif
