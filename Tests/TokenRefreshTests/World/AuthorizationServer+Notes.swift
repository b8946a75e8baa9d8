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

    mutating func noteFate(_ fate: Exchange.Fate, of call: Call) {
        changeExchanges { if $0.call == call.number { $0.fate = fate } }
    }

    /// Notes that a process has released, or lost, the lease: its calls no longer keep others out.
    mutating func noteUnguarded(_ process: Int) {
        changeExchanges { if $0.process == process { $0.isUnguarded = true } }
    }

    mutating func noteCrash(of process: Int) {
        changeExchanges { if $0.process == process, $0.fate != .lost { $0.fate = .crashed } }
    }

    private mutating func changeExchanges(_ change: (inout Exchange) -> Void) {
        for token in 0..<grants.count {
            for index in 0..<grants[token].exchanges.count { change(&grants[token].exchanges[index]) }
        }
    }

    mutating func noteEnding(_ tombstone: SessionTombstone) {
        guard !tombstone.session.rawValue.isEmpty else { return }
        self[tombstone.session].isRetired = true
        if self[tombstone.session].end == nil { self[tombstone.session].end = tombstone.reason }
    }

    func families(upTo ordinal: SessionOrdinal) -> [Int] { families.indices.filter { families[$0].ordinal <= ordinal } }
}
