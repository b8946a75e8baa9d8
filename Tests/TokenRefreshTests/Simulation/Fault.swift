/// A world that breaks a promise of its own, so that a law must be broken: what the simulator itself is tested with.
enum Fault: Sendable {
    /// Every process that asks for the lease gets it.
    case leaseIsNotExclusive
    /// A write to the store replaces what is there, whatever it is.
    case writesAreBlind
    /// The server forgets the idempotency key of an exchange.
    case keysAreForgotten
}
