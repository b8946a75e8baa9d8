/// A type of the application's own module DataAPI.
package struct Product: Sendable {
    package let shelf: String

    package init(shelf: String) {
        self.shelf = shelf
    }
}
