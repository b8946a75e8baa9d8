#if PostgreSQL
import Foundation

/// The result of a statement: rows of values in binary format. `nil` is SQL's null.
struct PostgreSQLRows: Sendable {
    let rows: [[Data?]]

    var isEmpty: Bool { rows.isEmpty }

    /// A value.
    ///
    /// - Returns: `nil` when there is no such row, no such column, or null.
    func value(_ column: Int, row: Int = 0) -> Data? {
        guard rows.indices.contains(row), rows[row].indices.contains(column) else { return nil }
        return rows[row][column]
    }

    /// A `bool`. `false` if there is no value.
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
