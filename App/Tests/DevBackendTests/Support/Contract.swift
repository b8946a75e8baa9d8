import Foundation
import HTTPTypes
import Testing

@testable import DevBackend

/// The operations and the statuses that the served document names.
struct Contract {
    /// The statuses of each operation, such as `GET /api/v1/articles`.
    let statuses: [String: Set<Int>]
    /// The operations with a body.
    let operationsWithBody: Set<String>

    private static let methods = ["get", "put", "post", "delete", "patch", "head", "options", "trace"]

    init(_ document: Data = Data(PackageResources.openapi_json)) throws {
        let root = try #require(JSONSerialization.jsonObject(with: document) as? [String: Any])
        let paths = try #require(root["paths"] as? [String: [String: Any]])
        var statuses: [String: Set<Int>] = [:]
        var operationsWithBody: Set<String> = []
        for (path, item) in paths {
            for method in Self.methods {
                guard let operation = item[method] as? [String: Any] else { continue }
                let name = "\(method.uppercased()) \(path)"
                let responses = try #require(operation["responses"] as? [String: Any], "\(name)")
                statuses[name] = Set(try responses.keys.map { try #require(Int($0), "\($0)") })
                if operation["requestBody"] != nil { operationsWithBody.insert(name) }
            }
        }
        self.statuses = statuses
        self.operationsWithBody = operationsWithBody
    }
}

extension DevBackend {
    /// The statuses with which the operations have responded, but for unknown paths.
    var observedStatuses: [String: Set<Int>] {
        var observed: [String: Set<Int>] = [:]
        for response in statistics.responses where response.route != "*" {
            let path = Route(.get, response.route) { _, _ in throw APIError.notFound }.fullPath
            observed["\(response.method) \(path)", default: []].formUnion(response.status.map { [$0] } ?? [])
        }
        return observed
    }
}
