#if PostgreSQL
import Foundation

/// A statement and its values, which are never part of the text.
struct PostgreSQLStatement: Sendable {
    let text: String
    var values: [PostgreSQLValue] = []
}

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

/// The result of a statement: rows of values in binary format. `nil` is SQL's null.
struct PostgreSQLRows: Sendable {
    let rows: [[Data?]]

    var isEmpty: Bool { rows.isEmpty }

    /// A value. Returns `nil` for a missing row or column, or null.
    func value(_ column: Int, row: Int = 0) -> Data? {
        guard rows.indices.contains(row), rows[row].indices.contains(column) else { return nil }
        return rows[row][column]
    }

    /// A `bool`. `false` without a value.
    func flag(_ column: Int, row: Int = 0) -> Bool { value(column, row: row)?.first == 1 }

    /// An `int8`.
    func integer(_ column: Int, row: Int = 0) -> Int64? {
        guard let bytes = value(column, row: row), bytes.count == 8 else { return nil }
        return Int64(bitPattern: bytes.reduce(0) { $0 << 8 | UInt64($1) })
    }

    /// A `text`.
    func text(_ column: Int, row: Int = 0) -> String? {
        value(column, row: row).map { String(decoding: $0, as: UTF8.self) }
    }
}
#endif
