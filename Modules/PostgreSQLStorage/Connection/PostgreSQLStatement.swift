#if PostgreSQL
/// A statement and its values, which are never part of the text.
struct PostgreSQLStatement: Sendable {
    let text: String
    var values: [PostgreSQLValue] = []
}
#endif
