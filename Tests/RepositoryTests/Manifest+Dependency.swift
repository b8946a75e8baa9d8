extension Manifest {
    /// One entry of a target's list of dependencies.
    struct Dependency: Decodable, Sendable, Hashable {
        let name: String
        /// The package of a product; nil for a target of the same package.
        var package: String?
        /// The traits without which it is left out.
        var traits: Set<String> = []

        init(name: String, package: String? = nil, traits: Set<String> = []) {
            self.name = name
            self.package = package
            self.traits = traits
        }

        private enum Key: String, CodingKey {
            case byName, target, product
        }

        private struct Condition: Decodable {
            let traits: Set<String>?
        }

        /// `{"target": [name, condition]}`, `{"product": [name, package, aliases, condition]}`.
        init(from decoder: any Decoder) throws {
            let object = try decoder.container(keyedBy: Key.self)
            guard let key = object.allKeys.first else {
                throw DecodingError.dataCorrupted(
                    DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "no known dependency"))
            }
            var list = try object.nestedUnkeyedContainer(forKey: key)
            name = try list.decode(String.self)
            if key == .product {
                package = try list.decodeIfPresent(String.self)
                _ = try list.decodeIfPresent([String: String].self)
            }
            traits = try list.decodeIfPresent(Condition.self)?.traits ?? []
        }
    }
}
