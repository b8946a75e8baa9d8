import NetworkCore

extension RetryPolicy {
    /// A policy whose random numbers are all the same.
    init(attempts: Int = 3, random: Double) {
        self.init(attempts: attempts)
        self.random = { random }
    }
}
