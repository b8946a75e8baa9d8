#if PostgreSQL
import Foundation

/// A statement and its values. A value is never part of the text.
struct PostgreSQLStatement: Sendable {
    let text: String
    var values: [PostgreSQLValue] = []
}

/// A value for a statement, sent as the bytes the server keeps (binary format).
///
/// A text in PostgreSQL's text format would be a C string, and end unnoticed at a zero byte.
enum PostgreSQLValue: Sendable {
    case text(String)
    case bytes(Data)
    case integer(Int64)

    /// The number PostgreSQL has for the type: `text`, `bytea`, `int8`.
    var type: UInt32 {
        switch self {
        case .text: 25
        case .bytes: 17
        case .integer: 20
        }
    }

    var encoded: [UInt8] {
        switch self {
        case .text(let text): Array(text.utf8)
        case .bytes(let data): Array(data)
        case .integer(let number): withUnsafeBytes(of: number.bigEndian) { Array($0) }
        }
    }
}

/// What a statement returned: rows of values in binary format. `nil` is SQL's null.
struct PostgreSQLAnswer: Sendable {
    let rows: [[Data?]]

    /// A value of the first row.
    ///
    /// - Returns: `nil` when there is no row, no such column, or null.
    func value(_ column: Int) -> Data? {
        guard let row = rows.first, row.indices.contains(column) else { return nil }
        return row[column]
    }

    /// A `bool` of the first row. What is not there is not true.
    func flag(_ column: Int) -> Bool { value(column)?.first == 1 }

    /// An `int8` of the first row.
    func integer(_ column: Int) -> Int64? {
        guard let bytes = value(column), bytes.count == 8 else { return nil }
        return Int64(bitPattern: bytes.reduce(0) { $0 << 8 | UInt64($1) })
    }

    /// A `text` of the first row.
    func text(_ column: Int) -> String? { value(column).map { String(decoding: $0, as: UTF8.self) } }
}
#endif
