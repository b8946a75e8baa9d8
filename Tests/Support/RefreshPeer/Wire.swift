import Foundation

/// Lines to and from the test that started this process.
enum Wire {
    /// The lines of the standard input, until it ends.
    static func lines() -> AsyncStream<String> {
        let (lines, line) = AsyncStream.makeStream(of: String.self)
        // A thread of its own: reading blocks.
        Thread.detachNewThread {
            while let text = readLine() { line.yield(text) }
            line.finish()
        }
        return lines
    }

    /// Writes a line whole: a write as short as this to a pipe is never torn.
    static func say(_ words: String...) {
        FileHandle.standardOutput.write(Data((words.joined(separator: " ") + "\n").utf8))
    }
}
