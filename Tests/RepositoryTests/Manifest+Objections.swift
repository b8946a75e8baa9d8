extension Manifest {
    /// Where the dependency lists differ from ``AllowTable``, and what to do about it.
    func objections() -> [String] {
        targets.filter { AllowTable.ours[$0.name] != nil }.flatMap { target in
            arrows(of: target) + packages(of: target, mayUseAny: AllowTable.system[target.name] == nil)
        }
    }

    /// The dependencies on targets of ours.
    private func arrows(of target: Target) -> [String] {
        let allowed = AllowTable.ours[target.name] ?? []
        let listed = Set(target.dependencies.filter { $0.package == nil || $0.package == "Latchkey" }.map(\.name))
        return listed.subtracting(allowed).sorted().map {
            "\(target.name) depends on \($0) in the manifest: the architecture has no such arrow. Take it out. "
                + AllowTable.whereToAdd
        }
            + allowed.subtracting(listed).sorted().map {
                "\(target.name) does not depend on \($0) in the manifest, and AllowTable.ours lets it import \($0). "
                    + "Take it out of the table, or add the dependency"
            }
    }

    /// The dependencies on packages: a module has them under a trait only, a target of the app as it likes.
    private func packages(of target: Target, mayUseAny: Bool) -> [String] {
        if mayUseAny { return [] }
        return target.dependencies.filter { $0.package != nil && $0.traits.isEmpty }.map {
            "\(target.name) depends on the package \($0.package ?? "") without a trait: what ships uses no package. "
                + "Put the dependency under a trait that is off by default"
        }
    }
}
