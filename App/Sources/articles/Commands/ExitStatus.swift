/// The exit statuses, after `sysexits.h`. A command throws one when it has printed its failure.
struct ExitStatus: Error, Hashable {
    let rawValue: Int32

    static let success = ExitStatus(rawValue: 0)
    /// The server refused the request, or a claim of the demo does not hold.
    static let refused = ExitStatus(rawValue: 1)
    static let usage = ExitStatus(rawValue: 64)
    static let unusableInput = ExitStatus(rawValue: 65)
    static let missingInput = ExitStatus(rawValue: 66)
    static let unreachable = ExitStatus(rawValue: 69)
    static let internalError = ExitStatus(rawValue: 70)
    static let store = ExitStatus(rawValue: 74)
    static let tryLater = ExitStatus(rawValue: 75)
    static let notSignedIn = ExitStatus(rawValue: 77)
    static let configuration = ExitStatus(rawValue: 78)
}
