/// A store that publishes what it holds to followers (G29).
///
/// What the owner has decided is a follower's too, also where the store cannot take it. So the engine tells such a
/// store of each end that its store has not taken, and of a session that is lost.
public protocol SessionPublishing: Sendable {
    /// Publishes an end in place of what the store holds of the sessions that it ends. It returns at once. What the
    /// store holds of them later does not undo it; a session that is lost and comes back does.
    func publish(_ ending: SessionTombstone)
}
