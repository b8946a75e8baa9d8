import Foundation
import ProgramTesting
import Testing

extension SpawnedProgram.Result {
    /// Both streams.
    var allOutput: String { output + errors }

    /// The text on standard error, if it is one line.
    var errorLine: String? {
        let lines = errors.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.count == 2 && lines[1].isEmpty ? String(lines[0]) : nil
    }

    /// The JSON object on standard output.
    func object() throws -> [String: Any] {
        let value = try JSONSerialization.jsonObject(with: Data(output.utf8))
        return try #require(value as? [String: Any])
    }
}
