import Foundation
import Testing

/// The scenarios of the guarantees, one at a time: a burst of a thousand requests beside another one would measure the
/// machine. A loaded machine takes its time, so only a scenario that has stopped for good reaches the limit.
@Suite(.serialized, .timeLimit(.minutes(20))) enum Scenarios {}

/// Prints a figure at once: a scenario that gets stuck leaves those before it behind.
func note(_ line: String) {
    try? FileHandle.standardOutput.write(contentsOf: Data("\(line)\n".utf8))
}
