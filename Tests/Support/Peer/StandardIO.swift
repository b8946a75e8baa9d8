import Foundation

/// Lines from and to the test that started this process.
enum StandardIO {
    /// Makes a stream of the lines of the standard input, until it ends.
    static func lines() -> AsyncStream<String> {
        let (lines, line) = AsyncStream.makeStream(of: String.self)
        // A thread of its own: reading blocks.
        Thread.detachNewThread {
            while let text = readLine() { line.yield(text) }
            line.finish()
        }
        return lines
    }

    /// Writes words as one line, at once. A write as short as this to a pipe is atomic.
    static func write(_ words: String...) {
        FileHandle.standardOutput.write(Data((words.joined(separator: " ") + "\n").utf8))
    }
}
