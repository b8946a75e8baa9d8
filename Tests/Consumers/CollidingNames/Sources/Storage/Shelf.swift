/// A type of the application's own module Storage.
package struct Shelf: Sendable {
    package let name: String

    package init(name: String) {
        self.name = name
    }
}
