/// Where a rule is not kept yet: the start of the paths. A rule that holds everywhere has no entry.
enum Leftovers {
    /// Words that the glossary replaces.
    static let words = [
        "App/", "Modules/AuthInterface/", "Modules/AuthTesting/", "Modules/DataAPI/", "Modules/Imaging/",
        "Modules/Storage/", "Tests/AuthTestingTests/", "Tests/ImagingTests/", "Tests/PostgreSQLStorageTests/",
        "Tests/StorageTests/", "Tests/Support/StorageTorture/",
    ]

    /// References to documents that are not in the repository.
    static let references = [
        "App/", "Modules/DataAPI/", "Modules/TokenRefresh/TokenRefresh.docc/", "Tests/PostgreSQLStorageTests/",
        "Tests/StorageTests/",
    ]

    /// Files that are not named for a type.
    static let fileNames = [
        "App/", "Modules/AuthTesting/", "Modules/DataAPI/", "Modules/PostgreSQLStorage/", "Modules/Storage/",
    ]

    /// Public types in the file of another type.
    static let types = [
        "Modules/AuthInterface/", "Modules/AuthTesting/", "Modules/DataAPI/", "Modules/Imaging/", "Modules/Storage/",
    ]

    static func contains(_ path: String, in leftovers: [String]) -> Bool {
        leftovers.contains { path.hasPrefix($0) }
    }
}
