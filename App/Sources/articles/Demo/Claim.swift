/// Something the demo says is so, and what it saw.
struct Claim: Encodable, Hashable, Sendable {
    let name: String
    let holds: Bool
    let observed: String
}

/// The claims of a run, in the order in which they are made.
enum ClaimName: CaseIterable, Hashable {
    case registered, fitted, allSucceed, oneRefresh, autoLogin, tokensDead, nothingPrinted

    func text(requests: Int) -> String {
        switch self {
        case .registered: "a guest is registered"
        case .fitted: "the image is within 1024×1024 and 5 MB"
        case .allSucceed: "\(requests) concurrent requests on an expired token all succeed"
        case .oneRefresh: "exactly one refresh reached the server"
        case .autoLogin: "a new composition over the same store is signed in without a login"
        case .tokensDead: "after logout the server refuses the old access and refresh tokens"
        case .nothingPrinted: "nothing secret was printed"
        }
    }
}

/// Collects what was seen of each claim. One that nobody came to look at does not hold.
struct Claims {
    private var seen: [ClaimName: (holds: Bool, observed: String)] = [:]

    mutating func see(_ name: ClaimName, _ holds: Bool, _ observed: String) {
        seen[name] = (holds, observed)
    }

    /// All claims, the missing ones with why they are missing.
    func list(requests: Int, missing: String) -> [Claim] {
        ClaimName.allCases.map { name in
            let (holds, observed) = seen[name] ?? (false, missing)
            return Claim(name: name.text(requests: requests), holds: holds, observed: observed)
        }
    }
}
