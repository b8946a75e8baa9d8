public import AuthInterface
public import Foundation
public import NetworkCore

/// A link of a `Link` field (RFC 8288): `</articles?page=2>; rel="next"`.
public struct WebLink: Sendable, Hashable {
    /// The most links that are read of one response.
    static let maximumCount = 1_000

    /// The target as the server wrote it: a URL, or a reference relative to that of the response.
    public let target: String

    /// The relation types, in lower case: `["next"]`.
    public let relations: [String]

    /// The other parameters, with names in lower case. One that ends with `*` is decoded (RFC 8187).
    public let parameters: [String: String]

    /// Reads the value of a field, which may hold several links. An invalid link is left out.
    ///
    /// - Complexity: O(*n*) in the length of the value.
    public static func links(in field: String) -> [WebLink] { read(field).links }

    /// The links of a field, and whether it was read to its end.
    fileprivate static func read(_ field: String) -> (links: [WebLink], isWhole: Bool) {
        var links: [WebLink] = []
        var scanner = FieldScanner(field)
        while !scanner.isAtEnd {
            guard links.count < maximumCount else { return (links, false) }
            if scanner.skip(UInt8(ascii: ",")) { continue }
            guard scanner.skip(UInt8(ascii: "<")) else {
                scanner.skipItem()
                continue
            }
            guard let target = scanner.text(before: UInt8(ascii: ">")) else { return (links, false) }
            links.append(WebLink(target: target.withoutSurroundingWhiteSpace, parametersIn: &scanner))
            if !scanner.skip(UInt8(ascii: ",")) { scanner.skipItem() }
        }
        return (links, true)
    }

    fileprivate func isLink(_ relation: String) -> Bool {
        parameters["anchor"] == nil && relations.contains { $0.equalsIgnoringASCIICase(relation) }
    }

    private init(target: String, parametersIn scanner: inout FieldScanner) {
        self.target = target
        var parameters = scanner.parameters(inList: true)
        relations = parameters.removeValue(forKey: "rel")?.lowercased().split(separator: " ").map(String.init) ?? []
        self.parameters = parameters
    }
}

extension WebLink: RedactedDescription {
    /// The relation types; never the target, which may hold a secret (G17).
    public var description: String { "link: \(relations.joined(separator: " "))" }
}

extension HTTPResponseHead {
    /// The links of the `Link` fields, in order.
    public var links: [WebLink] {
        Array(headers.values(of: "Link").flatMap { WebLink.links(in: $0) }.prefix(WebLink.maximumCount))
    }

    /// Whether a link of a relation type for which ``link(_:)`` finds none may be there: a field ends within a link or
    /// has too many, or no target is a URL.
    func mayHaveUnread(_ relation: String) -> Bool {
        let fields = headers.values(of: "Link").map { WebLink.read($0) }
        let all = fields.flatMap(\.links)
        return fields.contains { !$0.isWhole } || all.count > WebLink.maximumCount
            || all.contains { $0.isLink(relation) }
            || all.last.map { $0.relations.isEmpty && $0.parameters.isEmpty } ?? false
    }

    /// The target of the first link of a relation type, resolved against the URL of the response; `nil` if none is a
    /// URL. A link with another context (`anchor`) does not count. What no URL has in it is encoded, once.
    public func link(_ relation: String) -> URL? {
        guard let link = links.first(where: { $0.isLink(relation) }) else { return nil }
        return URL(reference: link.target, relativeTo: url).flatMap { $0.scheme == nil ? nil : $0.absoluteURL }
    }
}
