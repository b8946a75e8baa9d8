/// The exit statuses, after `sysexits.h`. A command that has said all there is to say throws one.
struct ExitStatus: Error, Hashable {
    let rawValue: Int32

    static let done = ExitStatus(rawValue: 0)
    /// The server said no, or a claim of the demo does not hold.
    static let refused = ExitStatus(rawValue: 1)
    static let usage = ExitStatus(rawValue: 64)
    static let unusableInput = ExitStatus(rawValue: 65)
    static let missingInput = ExitStatus(rawValue: 66)
    static let unreachable = ExitStatus(rawValue: 69)
    /// Something this program should have foreseen.
    static let fault = ExitStatus(rawValue: 70)
    static let store = ExitStatus(rawValue: 74)
    static let tryLater = ExitStatus(rawValue: 75)
    static let notSignedIn = ExitStatus(rawValue: 77)
    static let configuration = ExitStatus(rawValue: 78)
}
