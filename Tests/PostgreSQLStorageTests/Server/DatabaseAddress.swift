#if PostgreSQL
import ConcurrencyPrimitives
import Foundation
import PostgreSQLStorage
import Storage

/// What a connection string leads to.
protocol DatabaseAddress: Sendable { var connection: String { get } }

extension DatabaseAddress {
    /// A store in it, by default without encryption.
    func store(
        _ account: String = UUID().uuidString, table: PostgreSQLTable = .standard,
        cipher: any TokenCipher = UnencryptedTokenCipher(), options: PostgreSQLOptions = PostgreSQLOptions(),
        limits: PostgreSQLLimits = .patient, clock: any TimeSource = SystemTimeSource()
    ) -> PostgreSQLTokenStore {
        PostgreSQLTokenStore(
            connection: connection, account: account, table: table, cipher: cipher, options: options, limits: limits,
            clock: clock)
    }
}

/// A place that no server of the tests needs to be at.
struct ConnectionTo: DatabaseAddress {
    let connection: String

    init(_ connection: String) { self.connection = connection }
}
#endif
