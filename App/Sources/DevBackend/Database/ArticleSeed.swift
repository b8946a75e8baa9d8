import Foundation
import GRDB

/// The articles of a new database, one hour apart, the last one hour old.
enum ArticleSeed {
    static let authorName = "Rosa Lindqvist"

    static func insert(into database: Database, now: Date) throws {
        var author = Stored.User(name: authorName, createdAt: now)
        try author.insert(database)
        guard let authorID = author.id else { return }
        for (index, text) in texts.enumerated() {
            let createdAt = now.addingTimeInterval(-3600 * Double(texts.count - index))
            var article = Stored.Article(
                authorID: authorID, title: text.title, body: text.body, createdAt: createdAt, updatedAt: createdAt)
            try article.insert(database)
        }
    }

    static let texts: [(title: String, body: String)] = [
        ("What a lighthouse keeper writes down", "Wind, visibility, the hour the lamp was lit. Nothing else is news."),
        ("A short history of the paper clip", "It was patented many times and improved upon almost never."),
        ("Baking bread at altitude", "Less yeast, more water, and patience: dough rises faster where air is thin."),
        ("Why bridges hum", "Wind sheds vortices off the cables, and a cable is a string like any other."),
        ("The librarian's index cards", "Before there was search there were drawers, and people who knew them."),
        ("Walking the old canal", "Eleven kilometres, four locks, one heron who does not care about any of it."),
        (
            "On repairing bicycles",
            "Start with the sound it makes. The part that complains is rarely the part at fault."
        ),
        ("Names for rain", "A drizzle does not fall, it hangs; a downpour has an edge you can step across."),
        ("How a key fits", "Each cut lifts a pin to one height. All of them agree at once, or the lock stays shut."),
        ("The quiet of early trains", "Before six no one speaks, and everyone seems to have agreed on it."),
        ("Growing tomatoes on a balcony", "Five hours of sun and a deep pot do more than any fertiliser."),
        ("Letters that arrived late", "One came after sixty years, with the right stamp and the wrong street."),
    ]
}
