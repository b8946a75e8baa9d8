import ArticlesApp

/// Starts the application of the package. This target adds what a package cannot have: entitlements and an Info.plist.
@main enum ReaderMain {
    static func main() { ReaderApp.main() }
}
