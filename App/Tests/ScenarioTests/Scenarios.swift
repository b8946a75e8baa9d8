import Testing

/// The scenarios of the guarantees, one at a time: a burst of a thousand requests beside another one would measure the
/// machine.
@Suite(.serialized) enum Scenarios {}
