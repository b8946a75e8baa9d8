public import ConcurrencyPrimitives
public import Foundation
public import NetworkCore

/// The limits of a download, and what becomes of its partial file.
public struct DownloadOptions: Sendable {
    /// What a later call does with what an earlier one has received.
    public struct Resumption: Sendable, Hashable {
        let keepsFile: Bool

        /// The download goes on when its connection is lost. When the call ends without the whole file, nothing stays.
        public static let withinCall = Resumption(keepsFile: false)

        /// As `withinCall`, and when the call ends without the whole file, or the process does, what was received stays
        /// beside the target as `.NAME.partial`. The next call with the same target, request and session continues it,
        /// if the server says by its validator that the resource has not changed. The request is the method, the URL,
        /// `Accept` and `Accept-Language`, after the interceptors; `.NAME.partial.json`, of mode 0600, contains them,
        /// with a number in place of the secrets of the URL.
        ///
        /// Both are removed by a call that receives the whole file, and by one whose server refuses the request (a
        /// status of 400 to 499, other than 408, 425 and 429) or sends an invalid response, whose file is over
        /// ``DownloadOptions/maximumSize``, or whose session has ended. They stay after every other failure. Only a
        /// `GET` is continued: of other methods nothing stays.
        public static let acrossCalls = Resumption(keepsFile: true)
    }

    /// What a later call does with what an earlier one has received.
    public var resumption = Resumption.withinCall

    /// The largest file, in bytes: 16 GiB. A larger one fails with code `responseTooLarge`, and nothing of it stays.
    public var maximumSize: Int64 = 16 * 1_024 * 1_024 * 1_024

    /// How often one call goes on after its connection is lost.
    public var maximumResumptions = 5

    /// The least that has to arrive, in place of a total deadline. A slower connection counts as lost. `nil`: any rate.
    public var minimumRate: MinimumRate? = .standard

    /// The pauses before the call goes on.
    public var backoff = Backoff()

    /// The options of each request. Their progress handler is not used: a download has one of its own.
    public var request = RequestOptions()

    /// The clock of the pauses and of the rate.
    public var clock: any TimeSource = SystemTimeSource()

    /// Creates options with the defaults.
    public init() {}
}

/// A file that was downloaded.
public struct DownloadedFile: Sendable, Hashable {
    /// Where the file is.
    public let url: URL

    /// Its number of bytes.
    public let size: Int64

    /// The head of the last response.
    public let head: HTTPResponseHead

    /// How often the download went on after a lost connection, an earlier call included.
    public let resumptions: Int
}
