import AuthInterface

/// How much later than others a session starts the refresh in the background (G33).
///
/// The share follows from session and generation by a hash that is the same in every process, build and version: FNV-1a
/// (the algorithm of Fowler, Noll and Vo, with 64 bits), and the last step of SplitMix64, which mixes its high bits.
/// `Hasher` has another seed in each process.
struct RefreshSpread: Hashable, Sendable {
    /// The number of shares.
    private static let shares = 65_536

    /// From 0 up to, and not including, ``shares``.
    private let share: Int

    init(_ session: SessionID, _ generation: Int) {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        func feed(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        for byte in session.rawValue.utf8 { feed(byte) }
        for place in 0..<8 { feed(UInt8(truncatingIfNeeded: generation >> (8 * place))) }
        hash = (hash ^ (hash >> 30)) &* 0xBF58_476D_1CE4_E5B9
        hash = (hash ^ (hash >> 27)) &* 0x94D0_49BB_1331_11EB
        share = Int((hash ^ (hash >> 31)) >> 48)
    }

    init(of bundle: TokenBundle) { self.init(bundle.session, bundle.generation) }

    /// The last eighth is left to each session, so that a request starts the refresh before others must wait for it.
    func delay(within time: Duration) -> Duration {
        time / 8 * 7 / Self.shares * share
    }
}
