import NetworkCore

nonisolated struct Book: Codable, Identifiable {
    let id: Int
    let title: String
}
