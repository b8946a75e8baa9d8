import Foundation
import Testing

/// The scenarios of the guarantees, one at a time: two concurrent bursts of a thousand requests would measure the
/// machine. The time limit is for a scenario that hangs, and long enough for a machine under load.
@Suite(.serialized, .eachTransport, .timeLimit(.minutes(20))) enum Scenarios {}

/// Prints a figure without a buffer, so that it is not lost when a later scenario hangs.
func note(_ line: String) {
    try? FileHandle.standardOutput.write(contentsOf: Data("\(line)\n".utf8))
}
