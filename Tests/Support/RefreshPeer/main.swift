import Foundation

// A process with an engine over a stored session, for the tests of several processes over one store. It is told what
// to do by lines on its standard input, and says what it did by lines on its standard output; see `Peer`.
let peer = Peer(folder: URL(fileURLWithPath: CommandLine.arguments.last ?? ""))
for await line in Wire.lines() {
    if line == "exit" { break }
    peer.obey(line)
}
