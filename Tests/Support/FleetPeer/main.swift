// One process of a fleet, for the tests of the PostgreSQL store: it refreshes a session that others share, until a
// generation is reached. It talks to its test in lines, and ends with its input.
//
// Without the trait there is nothing to share, and it says so.
import Foundation

#if PostgreSQL
let arguments = CommandLine.arguments
guard arguments.count == 4, let goal = Int(arguments[3]) else {
    FileHandle.standardError.write(Data("usage: FleetPeer CONNECTION ACCOUNT GENERATION\n".utf8))
    exit(2)
}
await FleetPeer(connection: arguments[1], account: arguments[2], goal: goal).run()
#else
FileHandle.standardError.write(Data("FleetPeer was built without the trait PostgreSQL\n".utf8))
exit(2)
#endif
