import AuthInterface

@testable import TokenRefresh

/// What the laws need of the server's past.
extension AuthorizationServer {
    mutating func noteStored(_ grant: Int) {
        let family = grants[grant].family
        let isNew = !families[family].wasStored
        for other in families(upTo: families[family].ordinal) where isNew && other != family {
            families[other].isRetired = true
        }
        families[family].wasStored = true
        grants[grant].wasStored = true
        guard plan.rotates else { return }
        for older in 0..<grants.count where grants[older].family == family {
            if grants[older].generation < grants[grant].generation { grants[older].isSuccessorStored = true }
        }
    }

    mutating func noteExchange(_ token: Int, _ exchange: Exchange) {
        if plan.rotates { grants[token].exchanges.append(exchange) }
    }

    mutating func noteFate(_ fate: Exchange.Fate, of call: Call) {
        for index in 0..<grants[call.token].exchanges.count
        where grants[call.token].exchanges[index].call == call.number {
            grants[call.token].exchanges[index].fate = fate
        }
    }

    /// Notes that a process has released, or lost, the lease: its calls no longer keep others out.
    mutating func noteUnguarded(_ process: Int) { changeExchanges(of: process) { $0.isUnguarded = true } }

    mutating func noteCrash(of process: Int) {
        changeExchanges(of: process) { if $0.fate != .lost { $0.fate = .crashed } }
    }

    private mutating func changeExchanges(of process: Int, _ change: (inout Exchange) -> Void) {
        for token in 0..<grants.count {
            for index in 0..<grants[token].exchanges.count where grants[token].exchanges[index].process == process {
                change(&grants[token].exchanges[index])
            }
        }
    }

    mutating func noteEnding(_ tombstone: SessionTombstone) {
        guard !tombstone.session.rawValue.isEmpty else { return }
        self[tombstone.session].isRetired = true
        if self[tombstone.session].end == nil { self[tombstone.session].end = tombstone.reason }
    }

    func families(upTo ordinal: SessionOrdinal) -> [Int] { families.indices.filter { families[$0].ordinal <= ordinal } }
}
