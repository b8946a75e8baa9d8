// One process that refreshes the sessions of many accounts in a database, for the tests of the PostgreSQL store: under
// a lease it reads, records an intent, and stores the next generation, as the engine does. It says "ready", starts with
// the first line of its input, says how it went, and ends with its input.
//
// Without the trait there is nothing to share, and it says so.
import Foundation

#if PostgreSQL
let arguments = CommandLine.arguments
guard arguments.count == 7, let count = Int(arguments[3]), let width = Int(arguments[4]), let rounds = Int(arguments[5])
else {
    FileHandle.standardError.write(Data("usage: AccountsPeer CONNECTION PREFIX ACCOUNTS WIDTH ROUNDS yes|no\n".utf8))
    exit(2)
}
let peer = AccountsPeer(
    connection: arguments[1],
    prefix: arguments[2],
    count: count,
    width: width,
    rounds: rounds,
    isWatching: arguments[6] == "yes"
)
await peer.run()
#else
FileHandle.standardError.write(Data("AccountsPeer was built without the trait PostgreSQL\n".utf8))
exit(2)
#endif
